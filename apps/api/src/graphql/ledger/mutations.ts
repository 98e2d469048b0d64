import { NotFound } from '@muster/core/errors'
import {
  ledgerAudit,
  ledgerSinkAudit,
  readLedgerSettings,
  removeLedgerSink,
  setLedgerSink,
  updateLedgerSettings,
} from '@muster/core/ledger'
import { given } from '../shared/ids.ts'
import { mutation } from '../shared/mutation.ts'
import { Ledger, LedgerSink } from './types.ts'

mutation('updateLedgerSettings', {
  action: ledgerAudit.updateSettings,
  description: 'Enables, disables or changes the ledger of node metadata. Omitted fields keep their values.',
  input: (t) => ({
    isEnabled: t.boolean({ description: 'Whether workers record nodes. Entries remain when it is disabled.' }),
    intervalSeconds: t.int({ description: 'Time between batches, 5 to 604800.' }),
    maxAgeSeconds: t.int({
      description:
        'Time after which a node is recorded again when only its measurements and its last sequence changed; at least `intervalSeconds`.',
    }),
  }),
  payload: { ledger: { type: Ledger, description: 'The ledger.' } },
  resolve: async (input, { ctx }) => ({ ledger: await updateLedgerSettings(ctx, given(input)) }),
})

mutation('setLedgerSink', {
  action: ledgerSinkAudit.set,
  description:
    'Sets the chain that gets the entries of the ledger, or changes it. Omitted fields keep their values. Another `chainId` starts from the first entry.',
  input: (t) => ({
    name: t.string({ description: 'Name.' }),
    url: t.string({ description: 'Address of a CometBFT RPC. Stored encrypted; required for a new sink.' }),
    privateKey: t.string({
      description:
        'secp256k1 key of the account that signs and pays, 64 hexadecimal digits. Stored encrypted; required for a new sink.',
    }),
    chainId: t.string({ description: 'ID of the chain. Required for a new sink.' }),
    addressPrefix: t.string({
      description: 'Prefix of the addresses of the chain, for example `akash`. Required for a new sink.',
    }),
    typeUrl: t.string({ description: 'Type URL of the messages. Default: `/muster.ledger.v1.MsgUpdateNodeMetadata`.' }),
    providerAddress: t.string({ description: '`provider_address` of the messages; null: the address of the account.' }),
    feeDenom: t.string({ description: 'Denomination of the fee. Required for a new sink.' }),
    feePerNode: t.int({ description: 'Fee for each message, in units of `feeDenom`. Default: 500.' }),
    gasPerNode: t.int({ description: 'Gas limit for each message. Default: 100000.' }),
    isEnabled: t.boolean({ description: 'Whether entries are delivered. Default: true.' }),
  }),
  payload: { sink: { type: LedgerSink, description: 'The sink.' } },
  resolve: async ({ providerAddress, ...rest }, { ctx, deps }) => ({
    sink: await setLedgerSink(
      ctx,
      { ...given(rest), ...(providerAddress === undefined ? {} : { providerAddress }) },
      deps.localTargets,
    ),
  }),
})

mutation('removeLedgerSink', {
  action: ledgerSinkAudit.remove,
  description: 'Removes the chain that gets the entries of the ledger, with its receipts. Entries remain.',
  payload: { ledger: { type: Ledger, description: 'The ledger.' } },
  errors: [NotFound],
  resolve: async (_input, { ctx }) => {
    await removeLedgerSink(ctx)
    return { ledger: await readLedgerSettings(ctx.db, ctx.tenantId) }
  },
})
