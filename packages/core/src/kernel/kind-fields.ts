import type { InputIssue } from './errors.ts'

/** Required and optional fields of one kind. */
export type KindFields<Field extends string> = { must: Field[]; may: Field[] }

const isGiven = (value: unknown) => value != null && (!Array.isArray(value) || value.length > 0)

/** Issues of fields that do not belong to `kind`, or that it requires and are missing. */
export function kindIssues<Kind extends string, Field extends string>(
  kind: Kind,
  allowed: Record<Kind, KindFields<Field>>,
  fields: Partial<Record<Field, unknown>>,
): InputIssue[] {
  const { must, may } = allowed[kind]
  const all = Object.values<KindFields<Field>>(allowed).flatMap((each) => [...each.must, ...each.may])
  return [...new Set(all)].flatMap((path): InputIssue[] => {
    if (must.includes(path)) return isGiven(fields[path]) ? [] : [{ path, message: `is required for ${kind}` }]
    return may.includes(path) || !isGiven(fields[path]) ? [] : [{ path, message: `is not used by ${kind}` }]
  })
}
