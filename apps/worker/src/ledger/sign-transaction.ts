import { DirectSecp256k1Wallet, makeAuthInfoBytes, makeSignDoc } from '@cosmjs/proto-signing'
import type { LedgerSink, SignedTransaction } from '@muster/core/ledger'
import type { NodeRecord } from '@muster/ledger'
import { PubKey } from 'cosmjs-types/cosmos/crypto/secp256k1/keys'
import { TxBody, TxRaw } from 'cosmjs-types/cosmos/tx/v1beta1/tx'
import { encodeMessage } from './message.ts'

/** The account that signs, from its private key of 32 bytes in hexadecimal digits. */
export async function openSigner(privateKey: string, addressPrefix: string) {
  const wallet = await DirectSecp256k1Wallet.fromKey(Buffer.from(privateKey, 'hex'), addressPrefix)
  const [account] = await wallet.getAccounts()
  return { wallet, address: account!.address, pubkey: account!.pubkey }
}

/** A transaction with one message per node, signed for the given place in the account. */
export async function signTransaction(
  sink: LedgerSink,
  records: NodeRecord[],
  { wallet, address, pubkey }: Awaited<ReturnType<typeof openSigner>>,
  account: { number: bigint; sequence: number },
): Promise<SignedTransaction> {
  const messages = records.map((record) => ({
    typeUrl: sink.typeUrl,
    value: encodeMessage(record, sink.providerAddress ?? address),
  }))
  const body = TxBody.encode(TxBody.fromPartial({ messages })).finish()
  const key = { typeUrl: '/cosmos.crypto.secp256k1.PubKey', value: PubKey.encode(PubKey.fromPartial({ key: pubkey })).finish() }
  const fee = [{ denom: sink.feeDenom, amount: String(sink.feePerNode * records.length) }]
  const gas = sink.gasPerNode * records.length
  const authInfo = makeAuthInfoBytes([{ pubkey: key, sequence: account.sequence }], fee, gas, undefined, undefined)
  const { signed, signature } = await wallet.signDirect(address, makeSignDoc(body, authInfo, sink.chainId, account.number))
  const bytes = TxRaw.encode(
    TxRaw.fromPartial({
      bodyBytes: signed.bodyBytes,
      authInfoBytes: signed.authInfoBytes,
      signatures: [Buffer.from(signature.signature, 'base64')],
    }),
  ).finish()
  return { bytes, sequence: account.sequence, address }
}
