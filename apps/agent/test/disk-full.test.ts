import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { writeKeyFile } from '@muster/protocol/light'
import { expect, test, vi } from 'vitest'
import { askStatus } from '../src/status.ts'
import { standInApi } from './stand-in-api.ts'
import { folder } from './tree.ts'

// A file system of its own that is full, which takes root and a kernel that lets it mount.
const mount = 'mount -t tmpfs -o size=16k tmpfs "$1" && { head -c 100000 /dev/zero > "$1/full" 2>/dev/null || true; }'
const inOwn = (script: string) => ['unshare', '--mount', 'sh', '-c', script, 'sh'] as const

function canMount(): boolean {
  try {
    const [program, ...args] = inOwn(mount)
    execFileSync(program, [...args, folder()], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

test.skipIf(!canMount())(
  'on a full disk the agent beats on, says so, and delivers what it could not keep',
  async () => {
    const stand = await standInApi()
    const place = folder()
    const key = path.join(folder(), 'agent.key')
    writeKeyFile(key)
    const main = path.resolve(import.meta.dirname, '../src/main.ts')
    const socket = path.join(folder(), 'status.sock')
    const settings = {
      'node-id': 'node-full',
      'cluster-id': 'c',
      'api-url': stand.url,
      'key-file': key,
      'heartbeat-interval': '1s',
      'status-socket': socket,
    }
    const flags = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, value])
    // The folder is taken off the arguments, and the rest is the command.
    const script = `${mount} && at="$1" && shift && exec "$@" --state-dir "$at"`
    const [program, ...args] = inOwn(script)
    const command = [process.execPath, main, 'start', '--config', '/dev/null', ...flags]
    const agent = spawn(program, [...args, place, ...command], { stdio: 'ignore' })
    const until = (check: () => unknown) => vi.waitFor(check, { timeout: 120_000, interval: 50 })
    try {
      await until(() => expect(stand.accepted.length).toBeGreaterThan(1))
      expect(stand.accepted[0]!.health).toMatchObject({
        status: expect.not.stringMatching(/^healthy$/),
        reasons: expect.arrayContaining([expect.stringMatching(/the sequence cannot be kept: ENOSPC/)]),
      })
      const before = stand.accepted.length
      await stand.down()
      await until(async () => expect((await askStatus(socket))?.waiting_heartbeats).toBeGreaterThan(2))
      expect((await askStatus(socket))?.problems).toHaveLength(2)
      await stand.up()
      await until(() => expect(stand.accepted.length).toBeGreaterThan(before + 2))
      expect(stand.accepted.map(({ sequence_number }) => sequence_number)).toEqual(stand.accepted.map((_, i) => i + 1))
      expect(stand.wrong).toEqual([])
      expect(agent.exitCode).toBeNull()
    } finally {
      agent.kill()
      await once(agent, 'exit')
      await stand.down()
    }
  },
  240_000,
)
