import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { vi } from 'vitest'
import { freePort } from './free-port.ts'

/** A message as rsyslog parsed it. `sd` is the structured data as text. */
export type ReceivedMessage = Record<'pri' | 'time' | 'host' | 'app' | 'msgid' | 'sd' | 'msg', string>

/** Starts rsyslog with a TLS input. Its certificate is for 127.0.0.1. It writes each parsed message as a line of JSON. */
export async function startRsyslog() {
  const folder = mkdtempSync(path.join(tmpdir(), 'muster-rsyslog-'))
  const file = (name: string) => path.join(folder, name)
  const make =
    'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=syslog.test -addext subjectAltName=IP:127.0.0.1 -keyout key.pem -out cert.pem'
  execFileSync('openssl', make.split(' '), { cwd: folder, stdio: 'ignore' })
  const port = await freePort()
  const property = (name: keyof ReceivedMessage, from: string, more = '') =>
    `constant(value="\\"${name}\\":\\"") property(name="${from}" format="json"${more}) constant(value="\\"")`
  writeFileSync(
    file('rsyslog.conf'),
    `global(workDirectory="${folder}" defaultNetstreamDriver="ossl" defaultNetstreamDriverCAFile="${file('cert.pem')}"
  defaultNetstreamDriverCertFile="${file('cert.pem')}" defaultNetstreamDriverKeyFile="${file('key.pem')}")
module(load="imtcp" streamDriver.name="ossl" streamDriver.mode="1" streamDriver.authMode="anon")
template(name="parsed" type="list") {
  constant(value="{") ${property('pri', 'pri')} constant(value=",") ${property('time', 'timereported', ' dateFormat="rfc3339"')} constant(value=",")
  ${property('host', 'hostname')} constant(value=",") ${property('app', 'app-name')} constant(value=",") ${property('msgid', 'msgid')}
  constant(value=",") ${property('sd', 'structured-data')} constant(value=",") ${property('msg', 'msg')} constant(value="}\\n") }
input(type="imtcp" port="${port}" address="127.0.0.1" ruleset="all")
ruleset(name="all") { action(type="omfile" file="${file('messages')}" template="parsed") }
`,
  )
  const child = spawn('rsyslogd', ['-n', '-f', file('rsyslog.conf'), '-i', file('pid')], {
    env: { ...process.env, PATH: `${process.env.PATH}:/usr/sbin` },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let output = ''
  child.stderr.on('data', (data) => (output += data))
  const exited = once(child, 'exit')
  await vi.waitFor(
    async () => {
      if (child.exitCode !== null) throw new Error(`rsyslog ended: ${output}`)
      const socket = connect(port, '127.0.0.1')
      await once(socket, 'connect').finally(() => socket.destroy())
    },
    { timeout: 20_000 },
  )
  return {
    port,
    certificate: readFileSync(file('cert.pem'), 'utf8'),
    messages: (): ReceivedMessage[] =>
      existsSync(file('messages'))
        ? readFileSync(file('messages'), 'utf8')
            .split('\n')
            .slice(0, -1)
            .map((line) => JSON.parse(line))
        : [],
    async stop() {
      child.kill()
      await exited
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
