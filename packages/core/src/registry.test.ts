import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { UNSUPPORTED_SETTINGS } from './kernel/config.ts'
import { settings } from './registry.ts'

it('documents every setting, and every setting of the example exists', () => {
  const text = (path: string) => readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8')
  const table = text('docs/operate.md')
  expect(Object.keys({ ...settings, ...UNSUPPORTED_SETTINGS }).filter((name) => !table.includes(`\`${name}\``))).toEqual([])
  const offered = [...text('.env.example').matchAll(/^(\w+)=/gm)].map(([, name]) => name!)
  const compose = text('docker-compose.yml') + text('docker-compose.boot.yml')
  const composeOnly = [
    'SECRETS_DIR',
    'S3_SECRET_ACCESS_KEY_FILE',
    'PLAYBOOKS_DIR',
    'POSTGRES_MEMORY',
    'API_MEMORY',
    'WORKER_MEMORY',
    'CONSOLE_MEMORY',
    'BIND_ADDRESS',
    'BOOT_ADDRESS',
    'TLS_CERT_FILE',
    'TLS_KEY_FILE',
    'WORKER_CPUS',
    'NODE_IMAGE',
    'DEBIAN_IMAGE',
    'POSTGRES_IMAGE',
  ]
  expect(offered.filter((name) => !(name in settings) && !composeOnly.includes(name))).toEqual([])
  // Compose passes on what the file may set, and offers nothing that it does not.
  const passed = new Set([...compose.matchAll(/\$\{(\w+)/g)].map(([, name]) => name!))
  expect([...passed].sort()).toEqual([...offered].sort())
})
