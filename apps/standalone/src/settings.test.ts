import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { root } from './root.ts'
import { proxyIssue, readSettings } from './settings.ts'

let file: string
beforeEach(() => {
  file = path.join(fs.mkdtempSync(path.join(os.tmpdir(), 'muster-settings-')), 'muster.env')
})
afterEach(() => fs.rmSync(path.dirname(file), { recursive: true, force: true }))

test('uses defaults when nothing is set', () => {
  expect(readSettings([], {})).toEqual({
    dataDir: path.join(root, '.muster'),
    artifactDir: path.join(root, '.muster/artifacts'),
    artifactsBucket: undefined,
    upgradeBackup: true,
    host: '127.0.0.1',
    port: 3000,
    databaseUrl: undefined,
    trustProxy: false,
    proxySecretFile: undefined,
    tls: null,
    publicUrl: undefined,
    masterPassword: undefined,
    hasMasterPassword: false,
    lab: 0,
    slurm: false,
    boot: false,
    watch: false,
  })
})

test('a setting may be the content of a file, which the environment overrides', () => {
  fs.writeFileSync(file, 'postgres://muster:secret@db/muster\n')
  expect(readSettings([], { DATABASE_URL_FILE: file }).databaseUrl).toBe('postgres://muster:secret@db/muster')
  expect(readSettings([], { DATABASE_URL_FILE: file, DATABASE_URL: 'postgres://b/b' }).databaseUrl).toBe('postgres://b/b')
  fs.writeFileSync(file, 'mysql://muster:secret@db/muster\n')
  expect(() => readSettings([], { DATABASE_URL_FILE: file })).toThrow(`DATABASE_URL (from ${file}): must look like postgres://`)
  expect(() => readSettings([], { DATABASE_URL_FILE: '/nonexistent' })).toThrow(
    'DATABASE_URL_FILE names /nonexistent, which cannot be read (ENOENT).',
  )
})

test('TLS uses a generated certificate, or the given files', () => {
  const files = { TLS_CERT_FILE: '/etc/tls/cert.pem', TLS_KEY_FILE: '/etc/tls/key.pem' }
  expect(readSettings(['--tls'], {}).tls).toBe('self-signed')
  for (const argv of [['--tls'], []])
    expect(readSettings(argv, files).tls).toEqual({ certFile: files.TLS_CERT_FILE, keyFile: files.TLS_KEY_FILE })
  expect(() => readSettings([], { TLS_CERT_FILE: '/etc/tls/cert.pem' })).toThrow(/TLS_CERT_FILE and TLS_KEY_FILE: set both/)
  expect(() => readSettings(['--tls'], { MUSTER_PUBLIC_URL: 'http://muster.example.org' })).toThrow(
    /MUSTER_PUBLIC_URL: must begin with https/,
  )
})

test('requires a secret to trust a proxy', () => {
  // Commands in containers have the settings of the API, which only the console reaches.
  expect(proxyIssue(readSettings([], { TRUST_PROXY: '1' }))).toMatch(/TRUST_PROXY: playbooks .* could forge .*PROXY_SECRET_FILE/)
  expect(proxyIssue(readSettings([], {}))).toBeNull()
  const proxied = { trustProxy: true, proxySecretFile: '/etc/muster/proxy-secret' }
  const settings = readSettings([], { TRUST_PROXY: '1', PROXY_SECRET_FILE: proxied.proxySecretFile })
  expect(settings).toMatchObject(proxied)
  expect(proxyIssue(settings)).toBeNull()
})

test('an option overrides the environment, which overrides the file', () => {
  fs.writeFileSync(file, 'PORT=1001\nHOST=10.0.0.1\nCREDENTIAL_MASTER_PASSWORD=from-a-file\n')
  const env = { MUSTER_CONFIG: file, PORT: '1002' }
  expect(readSettings(['--port', '1003', '--lab', '8'], env)).toMatchObject({
    port: 1003,
    lab: 8,
    host: '10.0.0.1',
    hasMasterPassword: true,
  })
  expect(readSettings(['--lab', '8', '--slurm'], env)).toMatchObject({ lab: 8, slurm: true })
  expect(() => readSettings(['--slurm'], env)).toThrow('--slurm (from the command line): requires --lab N')
  expect(readSettings([], env).port).toBe(1002)
  expect(readSettings([], { MUSTER_CONFIG: file }).port).toBe(1001)
  expect(readSettings([], { MUSTER_CONFIG: file, PORT: '' }).port).toBe(1001)
})

test('reports each invalid setting with its source and allowed values, without its value', () => {
  fs.writeFileSync(file, 'DATABASE_URL=mysql://root:hunter2@db/x\n')
  const read = () =>
    readSettings(['--lab', '9999'], { MUSTER_CONFIG: file, PORT: '70000', MUSTER_PUBLIC_URL: 'muster.example.org' })
  expect(read).toThrow(
    [
      'Invalid configuration:',
      '  PORT (from the environment): must be a whole number from 1 to 65535',
      `  DATABASE_URL (from ${file}): must look like postgres://user:password@host:port/database`,
      '  MUSTER_PUBLIC_URL (from the environment): must look like https://muster.example.org',
      '  --lab (from the command line): must be a whole number from 1 to 64',
    ].join('\n'),
  )
  expect(read).not.toThrow('hunter2')
})

test('reports an unknown option and an unreadable file', () => {
  expect(() => readSettings(['--lap', '8'], {})).toThrow(/--lap/)
  expect(() => readSettings([], { MUSTER_CONFIG: '/nowhere/at/all' })).toThrow(
    'Cannot read /nowhere/at/all (MUSTER_CONFIG): ENOENT',
  )
})
