import fs from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { createTempDir } from '../test/temp-files.ts'
import { ConfigError, readConfig, requireSettings } from './config.ts'

const configDir = createTempDir()
let fileCount = 0
const writeConfig = (content: string) => {
  const name = path.join(configDir, `${fileCount++}.yaml`)
  fs.writeFileSync(name, content)
  return name
}
const read = (content: string, flags: string[] = [], env: Record<string, string> = {}) =>
  readConfig(['start', '--config', writeConfig(content), ...flags], env).config

// Config file of a third-party agent.
const THIRD_PARTY = `node-id: "node-001"
cluster-id: "hpc-cluster-1"
provider-address: "provider1abc"
provider-daemon-url: "http://provider-daemon:8081"
heartbeat-interval: 30s
key-file: "/etc/some/node-agent.key"
region: "us-east-1"
datacenter: "dc1"
latency-targets:
  - "node-002"
  - "node-003"
log-level: "info"
`

test('reads the config file of a third-party agent', () => {
  expect(read(THIRD_PARTY)).toMatchObject({
    nodeId: 'node-001',
    apiUrl: 'http://provider-daemon:8081',
    heartbeatInterval: 30_000,
    keyFile: '/etc/some/node-agent.key',
    latencyTargets: ['node-002', 'node-003'],
    datacenter: 'dc1',
  })
})

test('ignores the place of a node in files of other agents', () => {
  expect(read(`${THIRD_PARTY}\nzone: z\nrack: r1\nrow: b\nposition: 7\n`)).toMatchObject({ nodeId: 'node-001' })
})

test('flags override variables, and variables override the file', () => {
  const env = { MUSTER_AGENT_REGION: 'env', MUSTER_AGENT_DATACENTER: 'env', MUSTER_AGENT_LATENCY_TARGETS: 'a, b' }
  expect(read(THIRD_PARTY, ['--region=flag'], env)).toMatchObject({
    region: 'flag',
    datacenter: 'env',
    latencyTargets: ['a', 'b'],
    nodeId: 'node-001',
  })
})

test.each([
  ['nodeid: x', [], /unknown setting `nodeid`/],
  ['node-id: no', [], /`node-id` in .* must be 4 to 64/],
  ['node-id: [a]', [], /must be a string/],
  ['- a', [], /must be a mapping/],
  ['a: [', [], /\.yaml/],
  ['heartbeat-interval: soon', [], /must be a duration/],
  ['api-url: muster.example.org', [], /must be a URL/],
  ['', ['--metrics-address', '0.0.0.0:9177'], /must be a loopback address/],
  ['', ['--latency-port', '0'], /must be a port/],
  ['', ['--log-level', 'loud'], /must be one of debug/],
  ['', ['--token', 'secret'], /Unknown option '--token'/],
])('rejects %j with %j', (content, flags, message) => {
  expect(() => read(content, flags)).toThrow(ConfigError)
  expect(() => read(content, flags)).toThrow(message)
})

test('reports missing settings', () => {
  expect(() => requireSettings(read('node-id: node-1\ncluster-id: c'))).toThrow(
    /api-url is not set\. Set it in .*\.yaml or pass --api-url/,
  )
  expect(() => readConfig(['start', '--config', '/none.yaml'], {})).toThrow('cannot read /none.yaml')
})
