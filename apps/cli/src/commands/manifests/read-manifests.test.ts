import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { Readable } from 'node:stream'
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest'
import { readManifests } from './read-manifests.ts'

const folder = mkdtempSync(path.join(tmpdir(), 'muster-read-'))
const file = (name: string, text: string, mode?: number) => {
  writeFileSync(path.join(folder, name), text, { mode })
  return path.join(folder, name)
}
afterEach(() => {
  vi.restoreAllMocks()
  vi.unstubAllEnvs()
})
afterAll(() => rmSync(folder, { recursive: true }))

const TOO_LARGE = 'manifests have at most 10 million characters in total'

describe('the limit of characters', () => {
  it('ends reading of an endless file', async () => {
    await expect(readManifests(['/dev/zero'])).rejects.toThrow(`/dev/zero: ${TOO_LARGE}`)
  })

  it('ends reading of an endless standard input after the limit', async () => {
    let bytes = 0
    const chunk = Buffer.from('# text\n'.repeat(9000))
    const endless = (function* () {
      for (;;) {
        bytes += chunk.length
        yield chunk
      }
    })()
    vi.spyOn(process, 'stdin', 'get').mockReturnValue(Readable.from(endless) as unknown as typeof process.stdin)
    await expect(readManifests(['-'])).rejects.toThrow(`stdin: ${TOO_LARGE}`)
    expect(bytes).toBeLessThan(12_000_000)
  })

  it('counts characters, not bytes, of all files', async () => {
    const large = file('large.yaml', '€'.repeat(9_999_999))
    const [read, last] = await readManifests([large, file('a.yaml', 'a')])
    expect(read!.text === '€'.repeat(9_999_999)).toBe(true)
    expect(last).toMatchObject({ text: 'a' })
    await expect(readManifests([large, file('b.yaml', 'ab')])).rejects.toThrow(`b.yaml: ${TOO_LARGE}`)
  })
})

it('names a file that cannot be read', async () => {
  await expect(readManifests([path.join(folder, 'none.yaml')])).rejects.toThrow('none.yaml: ENOENT')
  mkdirSync(path.join(folder, 'tree/folder.yaml'), { recursive: true })
  await expect(readManifests([path.join(folder, 'tree')])).rejects.toThrow('folder.yaml: EISDIR')
})

describe('Pkl', () => {
  /** In place of pkl, which is a program of 100 MB: prints the file, which is YAML, or fails as pkl does. */
  const FAKE_PKL = `#!/bin/sh
[ "$1 $2 $3 $#" = "eval --format yaml 4" ] || { echo "unexpected arguments: $*" >&2; exit 2; }
case "$4" in
  *wrong.pkl) echo '–– Pkl Error ––' >&2; echo "Cannot find property" >&2; exit 1 ;;
  *endless.pkl) exec yes 'a: b' ;;
esac
exec cat "$4"
`
  const useFake = () => {
    mkdirSync(path.join(folder, 'bin'), { recursive: true })
    file('bin/pkl', FAKE_PKL, 0o755)
    vi.stubEnv('PATH', `${path.join(folder, 'bin')}${path.delimiter}${process.env.PATH}`)
  }

  it('is evaluated as YAML, also in a folder', async () => {
    useFake()
    mkdirSync(path.join(folder, 'site'))
    file('site/nodes.pkl', 'kind: ComputeNode\n')
    file('site/groups.pkl', 'kind: NodeGroup\n')
    expect(await readManifests([path.join(folder, 'site')])).toEqual([
      { name: path.join(folder, 'site/groups.pkl'), text: 'kind: NodeGroup\n' },
      { name: path.join(folder, 'site/nodes.pkl'), text: 'kind: ComputeNode\n' },
    ])
  })

  it('shows the error of pkl, and refuses output above the limit', async () => {
    useFake()
    await expect(readManifests([file('wrong.pkl', '')])).rejects.toThrow(
      /cannot evaluate .*wrong\.pkl: –– Pkl Error ––\nCannot find property$/,
    )
    await expect(readManifests([file('endless.pkl', '')])).rejects.toThrow(`endless.pkl: ${TOO_LARGE}`)
  })

  it('needs the program', async () => {
    vi.stubEnv('PATH', folder)
    await expect(readManifests([file('node.pkl', '')])).rejects.toThrow('needs the program pkl, which is not on the path')
  })
})
