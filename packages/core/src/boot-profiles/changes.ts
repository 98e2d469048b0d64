import { isDeepStrictEqual } from 'node:util'
import { CONTENT_FIELDS, NO_CONTENT } from './fields.ts'
import type { BootProfileContent, BootProfileVersion } from './tables.ts'

export type ContentChange = { field: keyof BootProfileContent | 'parent'; before: unknown; after: unknown }
type Compared = Pick<BootProfileVersion, 'parent' | 'content'>

/** Returns the fields that differ between two versions. Before the first version, nothing was set. */
export function contentChanges(before: Compared | null, after: Compared): ContentChange[] {
  const [was, is] = [before ?? { parent: null, content: NO_CONTENT }, after].map(({ parent, content }) => ({
    parent,
    ...content,
  }))
  return (['parent', ...CONTENT_FIELDS] as const).flatMap((field) =>
    isDeepStrictEqual(was![field], is![field]) ? [] : [{ field, before: was![field], after: is![field] }],
  )
}
