/** The payment methods on offer: limits, fees and banks. Read from a file and validated at startup. */
import { readYamlFile } from '@ledger/kernel/yaml-file.ts';
import { array, boolean, enums, type Infer, nonempty, object, optional, record, string } from 'superstruct';
import type { Sen } from '../common/money.ts';
import { type PaymentMode, paymentModes } from '../common/payment-modes.ts';
import { ringgit } from './ringgit.ts';

/** `down`: payers are warned before they choose it. */
export type Bank = { code: string; name: string; down?: boolean | undefined };

const Method = object({
  min: optional(ringgit),
  max: optional(ringgit),
  charge: optional(ringgit),
  banks: optional(
    array(object({ code: nonempty(string()), name: nonempty(string()), down: optional(boolean()) })),
  ),
});

const PaymentMethodsFile = object({ methods: record(enums(paymentModes), Method) });

/**
 * The methods in the order of the page; one that the file leaves out is not offered. Adds the file to `files`. Throws
 * ConfigError naming every fault.
 */
export function loadPaymentMethods(path: string, files: string[] = []): PaymentMethods {
  files.push(path);
  const { methods } = readYamlFile(path, PaymentMethodsFile);
  return new Map(
    paymentModes.flatMap((mode) => {
      const method = methods[mode];
      return method ? [[mode, readMethod(mode, method)] as const] : [];
    }),
  );
}

function readMethod(mode: PaymentMode, method: Infer<typeof Method>) {
  return {
    mode,
    /** null: no limit of its own. */
    minSen: method.min ?? null,
    maxSen: method.max ?? null,
    chargeSen: method.charge ?? (0 as Sen),
    /** Where a payer must name a bank; empty where the gateway asks. */
    banks: (method.banks ?? []) as readonly Bank[],
  };
}

type PaymentMethod = ReturnType<typeof readMethod>;
type PaymentMethods = ReadonlyMap<PaymentMode, PaymentMethod>;
