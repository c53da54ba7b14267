/** What `make` returns, or `otherwise` where it throws: for parsers that have no other way to say no. */
export function orElse<Made, Otherwise>(make: () => Made, otherwise: Otherwise): Made | Otherwise {
  try {
    return make();
  } catch {
    return otherwise;
  }
}
