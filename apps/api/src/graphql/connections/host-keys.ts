import { fingerprint } from '@muster/core/nodes'
import { builder } from '../../builder.ts'

export const fingerprintOf = (key: string | null) => (key ? fingerprint(key) : null)

type Keys = { hostKey: string | null; offeredHostKey: string | null; offeredHostKeyAt: Date | null }

type Alarm = { offeredFingerprint: string; approvedFingerprint: string | null; offeredAt: Date; isChanged: boolean }

/** The alarm for an offered host key that is not approved; null when there is none. */
export function hostKeyAlarmOf({ hostKey, offeredHostKey, offeredHostKeyAt }: Keys): Alarm | null {
  if (!offeredHostKey || offeredHostKey === hostKey) return null
  return {
    offeredFingerprint: fingerprint(offeredHostKey),
    approvedFingerprint: fingerprintOf(hostKey),
    offeredAt: offeredHostKeyAt ?? new Date(0),
    isChanged: hostKey !== null,
  }
}

export const HostKeyAlarm = builder.objectRef<Alarm>('HostKeyAlarm').implement({
  description: 'An offered host key that is not approved.',
  fields: (t) => ({
    offeredFingerprint: t.exposeString('offeredFingerprint', { description: 'Fingerprint of the offered key, `SHA256:…`.' }),
    approvedFingerprint: t.exposeString('approvedFingerprint', {
      nullable: true,
      description: 'Fingerprint of the approved key; null when none is approved.',
    }),
    offeredAt: t.expose('offeredAt', { type: 'DateTime', description: 'Time of the offer.' }),
    isChanged: t.exposeBoolean('isChanged', {
      description:
        'Whether another key is approved. Connections are blocked until the offered key is approved or the node offers the approved key again.',
    }),
  }),
})
