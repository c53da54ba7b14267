/** A text with its placeholders filled: `{amount}` becomes the value of `amount`. */
export function format(text: string, values: Readonly<Record<string, unknown>>): string {
  return text.replace(/\{(\w+)\}/g, (placeholder, name: string) =>
    String((Object.hasOwn(values, name) ? values[name] : undefined) ?? placeholder),
  );
}
