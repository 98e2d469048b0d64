import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { AwsClient } from 'aws4fetch'
import { expect, vi } from 'vitest'
import { freePort } from './free-port.ts'

export type TestMoto = {
  address: string
  /** @returns the ARN of the secret */
  putSecret(name: string, text: string): Promise<string>
  stop(): Promise<void>
}

/** moto, a simulator of AWS services, stands in for AWS Secrets Manager. `npm test` sets its folder in MOTO. */
export async function startMoto(): Promise<TestMoto> {
  const home = await mkdtemp(join(tmpdir(), 'muster-moto-'))
  const port = await freePort()
  const env = { PATH: process.env.PATH, PYTHONPATH: process.env.MOTO, HOME: home }
  const args = ['-m', 'moto.server', '-H', '127.0.0.1', '-p', String(port)]
  const child: ChildProcess = spawn(process.env.TEST_PYTHON!, args, { env, stdio: 'ignore' })
  const ended = new Promise((resolve) => child.once('exit', resolve).once('error', resolve))
  const address = `http://127.0.0.1:${port}`
  await vi.waitFor(async () => expect((await fetch(address)).ok).toBe(true), 120_000)
  const aws = new AwsClient({ accessKeyId: 'id', secretAccessKey: 'key', region: 'eu-central-1', service: 'secretsmanager' })
  return {
    address,
    async putSecret(name, text) {
      const response = await aws.fetch(`${address}/`, {
        method: 'POST',
        headers: { 'content-type': 'application/x-amz-json-1.1', 'x-amz-target': 'secretsmanager.CreateSecret' },
        body: JSON.stringify({ Name: name, SecretString: text }),
      })
      expect(response.status).toBe(200)
      return ((await response.json()) as { ARN: string }).ARN
    },
    async stop() {
      child.kill('SIGKILL')
      await ended
      await rm(home, { recursive: true, force: true })
    },
  }
}
