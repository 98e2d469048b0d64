import { t } from '@/messages/index.ts'
import type { Preflight } from '@/nodes/documents.ts'

/** Host keys in these tests that need approval, bastions first: nodes behind one are unreachable before. */
export function keysToApprove(tests: Preflight[]) {
  const keys = new Map<
    string,
    { id: string; name: string; fingerprint: string; isChanged: boolean; isBastion: boolean; nodes: number }
  >()
  for (const test of tests) {
    for (const stage of test.stages) {
      const offered = stage.offeredKey
      if (!offered || stage.state !== 'FAILED') continue
      const isBastion = offered.objectId !== test.node.id
      const key = `${offered.objectId} ${offered.fingerprint}`
      const known = keys.get(key)
      keys.set(key, {
        id: offered.objectId,
        name: isBastion ? (stage.hop ?? t('node.bastion')) : test.node.name,
        fingerprint: offered.fingerprint,
        isChanged: offered.isChanged,
        isBastion,
        nodes: (known?.nodes ?? 0) + 1,
      })
    }
  }
  return [...keys.values()].sort(
    (a, b) => Number(b.isBastion) - Number(a.isBastion) || a.name.localeCompare(b.name, 'en', { numeric: true }),
  )
}
export type KeyToApprove = ReturnType<typeof keysToApprove>[number]
