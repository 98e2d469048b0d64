import type { SlurmNodeCheck } from '@muster/core/slurm-operations'

/** What a minion returned of a state: why it failed, or null, and a finding for each of its states. */
export type StateResult = { failure: string | null; findings: SlurmNodeCheck[] }

const MAX_TEXT = 500
const MAX_FINDINGS = 40

const cut = (text: string): string => (text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text)
const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** A state that was not tried, because one that it requires failed. */
const isFollowUp = (comment: string): boolean => comment.startsWith('One or more requisite failed')

/**
 * Reads the return of `state.apply`: an object of states by tag (`pkg_|-slurm_|-slurmd_|-installed`), or texts when the minion cannot
 * render or run them.
 */
export function readStateResult(name: string, value: unknown): StateResult {
  if (!isObject(value)) {
    const texts = (Array.isArray(value) ? value : [value]).map((one) => (typeof one === 'string' ? one : JSON.stringify(one)))
    return { failure: `Salt cannot apply ${name}: ${cut(texts.join(' '))}`, findings: [] }
  }
  const states = Object.entries(value)
    .map(([tag, state]) => ({ tag, ...(isObject(state) ? state : { result: false, comment: String(state) }) }))
    .map(({ tag, ...state }) => {
      const fields = state as { __id__?: unknown; __run_num__?: unknown; result?: unknown; comment?: unknown }
      return {
        id: String(fields.__id__ ?? tag.split('_|-')[1] ?? tag),
        order: Number(fields.__run_num__ ?? 0),
        isFailed: fields.result === false,
        comment: [fields.comment].flat().join(' ').trim(),
      }
    })
    .toSorted((a, b) => Number(b.isFailed) - Number(a.isFailed) || a.order - b.order)
  const failed = states.filter(({ isFailed }) => isFailed)
  const causes = failed.filter(({ comment }) => !isFollowUp(comment))
  const reasons = (causes.length > 0 ? causes : failed).slice(0, 3).map(({ id, comment }) => `${id}: ${cut(comment)}`)
  return {
    failure: failed.length > 0 ? `Salt could not apply ${name}. ${reasons.join(' ')}` : null,
    findings: states.slice(0, MAX_FINDINGS).map(({ id, isFailed, comment }) => ({
      name: `${name} ${id}`,
      state: isFailed ? 'FAILED' : 'OK',
      message: cut(comment),
    })),
  }
}
