import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { z } from 'zod'
import { loadConfig, portSetting, processSettings, UNSUPPORTED_SETTINGS, unsupportedSettings } from './config.ts'

const folder = mkdtempSync(join(tmpdir(), 'muster-config-'))
afterAll(() => rmSync(folder, { recursive: true }))

it('reports unsupported settings from every source, without their values', () => {
  const file = join(folder, 'settings')
  writeFileSync(file, 'REDIS_DSN=redis://:hush@redis:6379/0\nPORT=4000\n')
  const env = { MUSTER_CONFIG: file, DB_DSN: 'postgresql+asyncpg://u:hush@h/d', JOB_QUEUE_NAME: '' }
  const lines = unsupportedSettings(env)
  expect(lines).toEqual([
    expect.stringMatching(/^DB_DSN \(from the environment\) is not supported: set DATABASE_URL/),
    `REDIS_DSN (from ${file}) is not supported: ${UNSUPPORTED_SETTINGS.REDIS_DSN}`,
  ])
  // A process that cannot start has no log yet.
  const rejected = () => loadConfig(env, { ...processSettings, PORT: portSetting, AUTH_SECRET: z.string() })
  expect(rejected).toThrow(/AUTH_SECRET is not set/)
  expect(rejected).toThrow(lines.join('\n  '))
  expect(lines.join()).not.toContain('hush')
})

it('reads a setting from the file that NAME_FILE names', () => {
  const file = join(folder, 'secret')
  writeFileSync(file, 'from a file\n')
  const settings = { SECRET: z.string(), OTHER: z.string().default('none') }
  expect(loadConfig({ SECRET_FILE: file }, settings)).toEqual({ SECRET: 'from a file', OTHER: 'none' })
  expect(loadConfig({ SECRET_FILE: file, SECRET: 'given' }, settings).SECRET).toBe('given')
  expect(() => loadConfig({ SECRET_FILE: join(folder, 'missing') }, settings)).toThrow(/SECRET_FILE names .*missing.*ENOENT/)
})
