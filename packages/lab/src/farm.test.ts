import { expect, it } from 'vitest'
import { connectTo } from './test-ssh.ts'
import { createFarm } from './testing.ts'

it('runs 200 hosts with distinct addresses and host keys', async () => {
  const farm = await createFarm({
    hosts: 200,
    readsInput: true,
    answer: ({ host, command, input }) => ({ stdout: `${host.name} ${command} ${input}`, code: 3 }),
  })
  expect(new Set(farm.hosts.map(({ host, port }) => `${host}:${port}`)).size).toBe(200)
  expect(new Set(farm.hosts.map((host) => host.hostKeyFingerprint)).size).toBe(200)
  const answers: string[] = []
  const queue = [...farm.hosts]
  const worker = async () => {
    for (let host = queue.shift(); host; host = queue.shift()) {
      using session = await connectTo(host, farm.sshKey)
      expect(session.fingerprint).toBe(host.hostKeyFingerprint)
      const { code, stdout } = await session.run('sh -s', `probe ${host.name}`)
      expect(code).toBe(3)
      answers.push(stdout)
    }
  }
  await Promise.all(Array.from({ length: 20 }, worker))
  expect(answers.sort()).toEqual(farm.hosts.map(({ name }) => `${name} sh -s probe ${name}`).sort())
  expect(farm.answered).toBe(200)
  await expect(connectTo(farm.hosts[0]!, { ...farm.sshPassword, password: 'wrong' })).rejects.toThrow(/authentication/)
  await farm.down()
  await expect(connectTo(farm.hosts[0]!, farm.sshPassword)).rejects.toThrow(/ECONNREFUSED/)
})
