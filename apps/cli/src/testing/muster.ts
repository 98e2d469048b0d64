import { Readable } from 'node:stream'
import { vi } from 'vitest'
import type { ApiDeps } from '../../../api/src/context.ts'
import { serveHttp } from '../../../api/src/http/server.ts'
import { testApi } from '../../../api/src/testing/api.ts'
import { main } from '../main.ts'

/** Starts an API with its own database. After `signIn`, `muster` uses it. */
export async function startTestApi(deps: Pick<ApiDeps, 'openchami' | 'localTargets'> & { vault?: 'real' } = {}) {
  const t = await testApi(deps as Parameters<typeof testApi>[0])
  const server = await serveHttp(t.api, { host: '127.0.0.1', port: 0 })
  return {
    ...t,
    apiUrl: `http://127.0.0.1:${server.port}`,
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
export type TestApi = Awaited<ReturnType<typeof startTestApi>>

/**
 * Runs `muster` in this process.
 * @param words arguments, or a line that is split at spaces; in a line, _ is a space within a word and '' an empty word
 * @param isTTY whether standard input is a terminal
 */
export async function muster(
  words: string | string[],
  stdin = '',
  isTTY = false,
): Promise<{ code: number; out: string; err: string }> {
  const output = { out: [] as unknown[], err: [] as unknown[] }
  const input = vi
    .spyOn(process, 'stdin', 'get')
    .mockReturnValue(Object.assign(Readable.from([Buffer.from(stdin)]), { isTTY }) as unknown as typeof process.stdin)
  const out = vi.spyOn(process.stdout, 'write').mockImplementation((text) => output.out.push(text) > 0)
  const err = vi.spyOn(process.stderr, 'write').mockImplementation((text) => output.err.push(text) > 0)
  const { MUSTER_TENANT } = process.env
  try {
    const argv = typeof words === 'string' ? words.split(' ').map((word) => word.replaceAll('_', ' ').replace(/^''$/, '')) : words
    const code = await main(argv)
    return { code, out: output.out.join(''), err: output.err.join('') }
  } finally {
    process.exitCode = 0
    // `--tenant` sets it.
    if (MUSTER_TENANT === undefined) delete process.env.MUSTER_TENANT
    else process.env.MUSTER_TENANT = MUSTER_TENANT
    for (const each of [input, out, err]) each.mockRestore()
  }
}
