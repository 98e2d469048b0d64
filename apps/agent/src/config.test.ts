import fs from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { folder } from '../test/tree.ts'
import { ConfigError, readConfig, required } from './config.ts'

const place = folder()
let made = 0
const file = (content: string) => {
  const name = path.join(place, `${made++}.yaml`)
  fs.writeFileSync(name, content)
  return name
}
const read = (content: string, flags: string[] = [], env: Record<string, string> = {}) =>
  readConfig(['start', '--config', file(content), ...flags], env).config

// The keys of an agent in the field.
const FIELD = `node-id: "node-001"
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

test('takes the file of a field agent', () => {
  expect(read(FIELD)).toMatchObject({
    nodeId: 'node-001',
    apiUrl: 'http://provider-daemon:8081',
    heartbeatInterval: 30_000,
    keyFile: '/etc/some/node-agent.key',
    latencyTargets: ['node-002', 'node-003'],
    datacenter: 'dc1',
  })
})

test('a flag goes before a variable, and a variable before the file', () => {
  const env = { MUSTER_AGENT_REGION: 'env', MUSTER_AGENT_DATACENTER: 'env', MUSTER_AGENT_LATENCY_TARGETS: 'a, b' }
  expect(read(FIELD, ['--region=flag'], env)).toMatchObject({
    region: 'flag',
    datacenter: 'env',
    latencyTargets: ['a', 'b'],
    nodeId: 'node-001',
  })
})

test.each([
  ['nodeid: x', [], /`nodeid`, which is no setting/],
  ['node-id: no', [], /`node-id` in .* must be 4 to 64/],
  ['node-id: [a]', [], /must be a text/],
  ['- a', [], /must hold keys/],
  ['a: [', [], /\.yaml/],
  ['heartbeat-interval: soon', [], /must be a duration/],
  ['api-url: muster.example.org', [], /must be an address/],
  ['', ['--metrics-address', '0.0.0.0:9177'], /must be a loopback address/],
  ['', ['--latency-port', '0'], /must be a port/],
  ['', ['--log-level', 'loud'], /must be one of debug/],
  ['', ['--token', 'secret'], /Unknown option '--token'/],
])('%j with %j is refused', (content, flags, why) => {
  expect(() => read(content, flags)).toThrow(ConfigError)
  expect(() => read(content, flags)).toThrow(why)
})

test('says what is missing', () => {
  expect(() => required(read('node-id: node-1\ncluster-id: c'))).toThrow(
    /api-url is not set: write it into .*\.yaml or give --api-url/,
  )
  expect(() => readConfig(['start', '--config', '/none.yaml'], {})).toThrow('/none.yaml cannot be read')
})
