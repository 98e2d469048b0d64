import { createHash } from 'node:crypto'
import { stringify } from 'yaml'
import type { BootProfile } from '../../boot-profiles/index.ts'
import { canonicalJson } from '../../kernel/canonical-json.ts'
import { parseYaml, YamlError } from '../../kernel/yaml.ts'

/** Values of boot parameters, without their hosts. Null: not set. */
export type Values = {
  kernel: string | null
  initrd: string | null
  params: string[]
  userData: Record<string, unknown> | null
}

const HEADER = '#cloud-config\n'

/** Splits a kernel command line; double quotes protect spaces. The loader adds initrd= itself. */
export const splitParams = (text: string): string[] =>
  (text.match(/(?:[^\s"]|"[^"]*"?)+/g) ?? []).filter((param) => !param.startsWith('initrd='))

/** User-data as cloud-config. BSS has it as a mapping. */
export const toCloudConfig = (data: Record<string, unknown>): string => HEADER + stringify(data, { lineWidth: 0 })

/** The mapping of a cloud-config; null for other formats of user-data. */
export function fromCloudConfig(text: string): Record<string, unknown> | null {
  if (!/^#cloud-config\s*\n/.test(text)) return null
  try {
    const value = parseYaml(text)
    return isMapping(value) ? value : null
  } catch (error) {
    if (error instanceof YamlError) return null
    throw error
  }
}

export const isMapping = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Merges like a JSON merge patch (RFC 7396): mappings key by key, null removes a key. */
export function mergePatch(before: unknown, patch: unknown): unknown {
  if (!isMapping(patch)) return patch
  const merged = new Map(Object.entries(isMapping(before) ? before : {}))
  for (const [key, value] of Object.entries(patch))
    if (value === null) merged.delete(key)
    else merged.set(key, mergePatch(merged.get(key), value))
  return Object.fromEntries(merged)
}

/** Profiles that boot parameters are stored in are named after their values, so that equal ones are one profile. */
export const profileName = (values: Values & { arch: string | null }, number: number): string => {
  const hash = createHash('sha256').update(canonicalJson(values)).digest('hex').slice(0, 12)
  return `bss-${hash}${number > 1 ? `-${number}` : ''}`
}
/** Whether only boot parameters are in a profile. One that a person changed is the person's, whatever its name is. */
export const isStored = ({ name, version, parentId }: Pick<BootProfile, 'name' | 'version' | 'parentId'>): boolean =>
  version === 1 && parentId === null && /^bss-[0-9a-f]{12}(-\d+)?$/.test(name)
