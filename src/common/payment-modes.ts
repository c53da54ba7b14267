/** The ways to pay, by the codes that configuration, gateway and events have in common. */
export const paymentModes = ['fpx', 'fpx1', 'cc', 'dc', 'dnqr', 'wallet'] as const;
export type PaymentMode = (typeof paymentModes)[number];
