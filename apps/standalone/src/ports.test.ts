import { once } from 'node:events'
import net from 'node:net'
import { expect, test } from 'vitest'
import { pickPort, reservePort } from './ports.ts'

test('picks the next free port when the preferred one is in use', async () => {
  const taken = net.createServer().listen(0, '127.0.0.1')
  await once(taken, 'listening')
  try {
    const { port } = taken.address() as net.AddressInfo
    const picked = await pickPort(port)
    expect(picked).toBeGreaterThan(port)
    expect(picked).toBeLessThan(port + 50)
  } finally {
    taken.close()
  }
})

test('reserves a port until it is released', async () => {
  const first = await reservePort(await pickPort())
  const second = await reservePort(first.port)
  expect(second.port).toBeGreaterThan(first.port)
  await Promise.all([first.release(), second.release()])
})

test('rejects an address that this machine does not have', async () => {
  await expect(pickPort(3000, '192.0.2.1')).rejects.toThrow('EADDRNOTAVAIL')
})
