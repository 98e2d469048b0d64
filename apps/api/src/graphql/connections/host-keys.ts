import { fingerprint } from '@muster/core/nodes'
import { builder } from '../../builder.ts'

export const fingerprintOf = (key: string | null) => (key ? fingerprint(key) : null)

type Keys = { hostKey: string | null; offeredHostKey: string | null; offeredHostKeyAt: Date | null }

type Alarm = { offeredFingerprint: string; pinnedFingerprint: string | null; offeredAt: Date; isChanged: boolean }

/** The alarm that an offered but not approved host key is; null when there is none. */
export function hostKeyAlarmOf({ hostKey, offeredHostKey, offeredHostKeyAt }: Keys): Alarm | null {
  if (!offeredHostKey || offeredHostKey === hostKey) return null
  return {
    offeredFingerprint: fingerprint(offeredHostKey),
    pinnedFingerprint: fingerprintOf(hostKey),
    offeredAt: offeredHostKeyAt ?? new Date(0),
    isChanged: hostKey !== null,
  }
}

export const HostKeyAlarm = builder.objectRef<Alarm>('HostKeyAlarm').implement({
  description: 'A host key that was offered and that nobody has approved.',
  fields: (t) => ({
    offeredFingerprint: t.exposeString('offeredFingerprint', { description: 'Fingerprint of the offered key, `SHA256:…`.' }),
    pinnedFingerprint: t.exposeString('pinnedFingerprint', {
      nullable: true,
      description: 'Fingerprint of the approved key; null when none has been approved yet.',
    }),
    offeredAt: t.expose('offeredAt', { type: 'DateTime', description: 'When it was offered.' }),
    isChanged: t.exposeBoolean('isChanged', {
      description: 'True: the key is another one than the approved. Nothing connects until it is settled.',
    }),
  }),
})
