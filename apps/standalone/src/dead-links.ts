import fs from 'node:fs'
import path from 'node:path'

/** Relative links of a Markdown file, `[text](target)` and images, whose target does not exist. Anchors are not followed. */
export function deadLinks(file: string): string[] {
  const text = fs.readFileSync(file, 'utf8').replace(/^```.*?^```/gms, '')
  return [...text.matchAll(/\]\(([^)\s]+)[^)]*\)/g)]
    .map(([, target]) => target!.replace(/#.*$/, ''))
    .filter((target) => target && !/^[a-z]+:/.test(target) && !fs.existsSync(path.resolve(path.dirname(file), decodeURI(target))))
}
