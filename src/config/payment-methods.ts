/** The payment methods on offer: limits, fees and banks. Read from a file and validated at boot. */
import { array, nonempty, object, optional, string } from 'superstruct';
import type { Sen } from '../kernel/money.ts';
import { type PaymentMode, paymentModes } from '../kernel/payment-modes.ts';
import { readYamlFile, ringgit } from './yaml-file.ts';

export type Bank = { code: string; name: string };

export type PaymentMethod = {
  mode: PaymentMode;
  /** null: no limit of its own. */
  minSen: Sen | null;
  maxSen: Sen | null;
  chargeSen: Sen;
  /** From which the payer must choose one; empty where the gateway asks for the bank. */
  banks: readonly Bank[];
};

export type PaymentMethods = ReadonlyMap<PaymentMode, PaymentMethod>;

const Method = object({
  min: optional(ringgit),
  max: optional(ringgit),
  charge: optional(ringgit),
  banks: optional(array(object({ code: nonempty(string()), name: nonempty(string()) }))),
});

const methodOf = Object.fromEntries(paymentModes.map((mode) => [mode, optional(Method)]));
const PaymentMethodsFile = object({ methods: object(methodOf) });

/** The methods in the order of the page; one that the file leaves out is not offered. Throws ConfigError naming every fault. */
export function loadPaymentMethods(path: string): PaymentMethods {
  const { methods } = readYamlFile(path, PaymentMethodsFile);
  return new Map(
    paymentModes.flatMap((mode): [PaymentMode, PaymentMethod][] => {
      const method = methods[mode];
      if (!method) return [];
      const { min = null, max = null, charge = 0 as Sen, banks = [] } = method;
      return [[mode, { mode, minSen: min, maxSen: max, chargeSen: charge, banks }]];
    }),
  );
}
