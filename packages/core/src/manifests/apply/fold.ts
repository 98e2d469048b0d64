import { canonicalJson } from '../../kernel/canonical-json.ts'
import { listedNames } from '../../kernel/names.ts'
import { foldHostlist } from '../../selection/index.ts'
import type { Step } from './compare.ts'
import { keyOf } from './fields.ts'
import type { FieldChange, ManifestChange } from './result.ts'

const MAX_TEXT = 500

/** A value as text of a plan; null for the default, `null` for an entry with that value. */
export function textOf(value: unknown): string | null {
  if (value === undefined) return null
  const text = typeof value === 'string' ? value : canonicalJson(value)
  return text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}… (${text.length} characters)` : text
}

/** Changes of the same fields to the same values become one. Fields that differ from node to node are listed together. */
export function foldChanges(steps: Step[]): ManifestChange[] {
  const groups = new Map<string, Step[]>()
  for (const step of steps) {
    if (step.action === 'UNCHANGED') continue
    const key = canonicalJson([
      step.action,
      step.kind.kind,
      step.item.stored?.isRetired ?? false,
      step.differing.toSorted().map((path) => partOf(step, path)),
    ])
    const group = groups.get(key)
    if (group) group.push(step)
    else groups.set(key, [step])
  }
  return [...groups.values()].map((group): ManifestChange => {
    const [{ action, kind, item, differing }] = group as [Step]
    const names = group.map((step) => step.item.name)
    const fields = differing.map((path): FieldChange => {
      const texts = (side: 'before' | 'after') => group.map((step) => textOf(step[side].get(path)))
      return { path, before: together(texts('before')), after: together(texts('after')) }
    })
    const isBack = action === 'UPDATE' && item.stored?.isRetired
    return {
      action: action as ManifestChange['action'],
      kind: kind.kind,
      names: kind.kind === 'ComputeNode' ? foldHostlist(names) : names.length > 50 ? listedNames(names) : names.join(', '),
      count: group.length,
      fields: isBack
        ? [
            { path: 'status', before: kind.kind === 'ComputeNode' ? 'DECOMMISSIONED' : 'archived', after: 'in service' },
            ...fields,
          ]
        : fields,
    }
  })
}

/** What must be equal for two changes to be one. */
function partOf({ kind, before, after }: Step, path: string): unknown {
  return kind.individual?.includes(keyOf(kind, path))
    ? [path, before.has(path), after.has(path)]
    : [path, before.get(path) ?? null, after.get(path) ?? null]
}

function together(texts: (string | null)[]): string | null {
  const different = [...new Set(texts.filter((text) => text !== null))]
  if (different.length === 0) return null
  if (different.length === 1) return different[0]!
  const isPlain = different.every((text) => text.length < 64 && !/[{["]/.test(text))
  const text = isPlain ? foldHostlist(different) : `${different.length} values`
  return text.length > MAX_TEXT ? `${different.length} values: ${different[0]} … ${different.at(-1)}` : text
}
