import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { writeKeyFile } from '@muster/protocol/agent'
import { expect, test } from 'vitest'
import { fetchStatus } from '../src/status.ts'
import { startFakeApi } from './fake-api.ts'
import { createHostRoot, createTempDir } from './temp-files.ts'

// A full file system of its own, which requires root and permission to mount.
const mount = 'mount -t tmpfs -o size=16k tmpfs "$1" && { head -c 100000 /dev/zero > "$1/full" 2>/dev/null || true; }'
const inMountNamespace = (script: string) => ['unshare', '--mount', 'sh', '-c', script, 'sh'] as const

function canMount(): boolean {
  try {
    const [program, ...args] = inMountNamespace(mount)
    execFileSync(program, [...args, createTempDir()], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

test.skipIf(!canMount())(
  'on a full disk the agent continues, reports the problem, and delivers from memory',
  async () => {
    const fakeApi = await startFakeApi()
    const stateDir = createTempDir()
    const key = path.join(createTempDir(), 'agent.key')
    writeKeyFile(key)
    const main = path.resolve(import.meta.dirname, '../src/main.ts')
    const socket = path.join(createTempDir(), 'status.sock')
    const settings = {
      'node-id': 'node-full',
      'cluster-id': 'c',
      'api-url': fakeApi.url,
      'key-file': key,
      'heartbeat-interval': '1s',
      'host-root': createHostRoot(),
      'status-socket': socket,
    }
    const flags = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, value])
    // The first argument is the folder, the rest is the command.
    const script = `${mount} && at="$1" && shift && exec "$@" --state-dir "$at"`
    const [program, ...args] = inMountNamespace(script)
    const command = [process.execPath, main, 'start', '--config', '/dev/null', ...flags]
    const agent = spawn(program, [...args, stateDir, ...command], { stdio: 'ignore' })
    try {
      await expect.poll(() => fakeApi.accepted.length).toBeGreaterThan(1)
      expect(fakeApi.accepted[0]!.health).toMatchObject({
        status: expect.not.stringMatching(/^healthy$/),
        reasons: expect.arrayContaining([expect.stringMatching(/the sequence cannot be saved: ENOSPC/)]),
      })
      const before = fakeApi.accepted.length
      await fakeApi.stop()
      await expect.poll(async () => (await fetchStatus(socket))?.waiting_heartbeats).toBeGreaterThan(2)
      expect((await fetchStatus(socket))?.problems).toHaveLength(2)
      await fakeApi.restart()
      await expect.poll(() => fakeApi.accepted.length).toBeGreaterThan(before + 2)
      expect(fakeApi.accepted.map(({ sequence_number }) => sequence_number)).toEqual(fakeApi.accepted.map((_, i) => i + 1))
      expect(fakeApi.violations).toEqual([])
      expect(agent.exitCode).toBeNull()
    } finally {
      agent.kill()
      await once(agent, 'exit')
      await fakeApi.stop()
    }
  },
  240_000,
)
