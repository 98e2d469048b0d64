import type { Frame } from './frames.ts'
import { splitLines, stripControl } from './text.ts'

/** File contents and link targets by path, and other frames by name. */
export interface Evidence {
  files: Map<string, string>
  links: Map<string, string>
  frame: (name: string) => string
}

/** Parses `path:line` of grep and `path -> target` of ls. */
export function parseEvidence(frames: Frame[]): Evidence {
  const frame = (name: string) => stripControl(frames.find((one) => one.name === name)?.body ?? '')
  const files = new Map<string, string[]>()
  for (const line of splitLines(frame('files'))) {
    // Only a PCI address in the path also contains `:`.
    const [, path, text] = /^(\/[^:]*?(?:[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7][^:]*)?):(.*)$/i.exec(line) ?? []
    if (path !== undefined && text !== undefined) files.set(path, [...(files.get(path) ?? []), text])
  }
  const links = new Map<string, string>()
  for (const line of splitLines(frame('links'))) {
    const [, path, target = ''] = / (\/\S+)(?: -> (\S+))?\s*$/.exec(line) ?? []
    if (path) links.set(path, target)
  }
  return { files: new Map([...files].map(([path, lines]) => [path, lines.join('\n')])), links, frame }
}

/** Target of the link with a path that ends with `end`. */
export const findLink = (links: Map<string, string>, end: string) => [...links].find(([path]) => path.endsWith(end))?.[1]

/** Parses `KEY=value` lines with shell quotes, as in os-release and version.info. */
export function parseKeyValues(text: string): Record<string, string> {
  const found: Record<string, string> = {}
  for (const [, key = '', value = ''] of text.matchAll(/^[ \t]*([A-Za-z_]\w*)=(.*)$/gm))
    found[key] = value.trim().replace(/^(['"])(.*)\1$/, '$2')
  return found
}

/** Parses the sections of the frame `tool system`; each begins with `@name`. */
export function parseSections(body: string): Record<string, string> {
  const found: Record<string, string> = {}
  let name = ''
  for (const line of splitLines(body)) {
    const mark = /^@([a-z]+)$/.exec(line)
    if (mark) name = mark[1] ?? ''
    else if (name) found[name] = `${found[name] ?? ''}${line}\n`
  }
  return found
}
