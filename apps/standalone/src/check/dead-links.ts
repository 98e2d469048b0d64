import fs from 'node:fs'
import path from 'node:path'

/** Returns the relative links and images of a Markdown file whose target does not exist. Anchors are not checked. */
export function deadLinks(file: string): string[] {
  const text = fs.readFileSync(file, 'utf8').replace(/^```.*?^```/gms, '')
  return [...text.matchAll(/\]\(([^)\s]+)[^)]*\)/g)]
    .map(([, target]) => target!.replace(/#.*$/, ''))
    .filter((target) => target && !/^[a-z]+:/.test(target) && !fs.existsSync(path.resolve(path.dirname(file), decodeURI(target))))
}
