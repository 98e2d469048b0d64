import { Readable } from 'node:stream'
import { vi } from 'vitest'
import { serveHttp } from '../../../api/src/http.ts'
import { testApi } from '../../../api/src/testing/api.ts'
import { main } from '../main.ts'

/** An API over a database of its own, which `muster` speaks to from `signIn` on. */
export async function cliWorld() {
  const t = await testApi()
  const server = await serveHttp(t.api, { host: '127.0.0.1', port: 0 })
  return {
    ...t,
    async signIn(as: Parameters<typeof t.tokenOf>[0]) {
      vi.stubEnv('MUSTER_URL', `http://127.0.0.1:${server.port}`)
      vi.stubEnv('MUSTER_TOKEN', await t.tokenOf(as))
    },
    async close() {
      vi.unstubAllEnvs()
      await server.stop()
      await t.close()
    },
  }
}
export type CliWorld = Awaited<ReturnType<typeof cliWorld>>

/**
 * What the command line says in this process, and how it ends.
 * @param words a line is parted at blanks; in it _ is a blank within a word, and '' an empty word
 */
export async function muster(words: string | string[], stdin = ''): Promise<{ code: number; out: string; err: string }> {
  const said = { out: [] as unknown[], err: [] as unknown[] }
  const input = vi.spyOn(process, 'stdin', 'get').mockReturnValue(Readable.from([Buffer.from(stdin)]) as typeof process.stdin)
  const out = vi.spyOn(process.stdout, 'write').mockImplementation((text) => said.out.push(text) > 0)
  const err = vi.spyOn(process.stderr, 'write').mockImplementation((text) => said.err.push(text) > 0)
  try {
    const given =
      typeof words === 'string' ? words.split(' ').map((word) => word.replaceAll('_', ' ').replace(/^''$/, '')) : words
    const code = await main(given)
    return { code, out: said.out.join(''), err: said.err.join('') }
  } finally {
    process.exitCode = 0
    for (const each of [input, out, err]) each.mockRestore()
  }
}
