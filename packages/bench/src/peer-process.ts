import { execFileSync, spawn } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { pickPort } from '@muster/standalone'

const PEERS = fileURLToPath(new URL('../peers', import.meta.url))
const INSTALLED = fileURLToPath(new URL('../../../.tool/peers', import.meta.url))

/** Installs a peer from its committed lockfile, separately from our packages. @returns its folder */
export function installPeer(name: string): string {
  const dir = join(INSTALLED, name)
  const lock = readFileSync(join(PEERS, name, 'package-lock.json'), 'utf8')
  const isInstalled = existsSync(join(dir, 'node_modules')) && readFileSync(join(dir, 'package-lock.json'), 'utf8') === lock
  mkdirSync(dir, { recursive: true })
  cpSync(join(PEERS, name), dir, { recursive: true })
  if (!isInstalled)
    execFileSync('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'], {
      cwd: dir,
      stdio: ['ignore', 'ignore', 'inherit'],
    })
  return dir
}

export type Peer = { url: string; pid: number; stop(): Promise<void> }

/** Starts `script` on a free port (environment variable PORT) and waits until it answers. */
export async function startPeer(script: string, env: Record<string, string>): Promise<Peer> {
  const port = await pickPort()
  const url = `http://127.0.0.1:${port}`
  const child = spawn(process.execPath, [script], {
    env: { PATH: process.env.PATH ?? '', NODE_ENV: 'production', GRAPHILE_ENV: 'production', PORT: String(port), ...env },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const gone = new Promise((resolve) => child.once('exit', resolve))
  const stop = async () => {
    child.kill('SIGTERM')
    // A peer may ignore SIGTERM.
    const hard = setTimeout(() => child.kill('SIGKILL'), 3000)
    await gone
    clearTimeout(hard)
  }
  const deadline = Date.now() + 30_000
  while (child.exitCode === null && Date.now() < deadline) {
    if (
      await fetch(url).then(
        () => true,
        () => false,
      )
    )
      return { url, pid: child.pid!, stop }
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  await stop()
  throw new Error(`${script} did not start`)
}

export const peerScript = (name: string) => join(PEERS, name)
