import { once } from 'node:events'
import net from 'node:net'
import { expect, test } from 'vitest'
import { holdPort, pickPort } from './ports.ts'

test('takes the next free port when the wanted one is taken', async () => {
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

test('holds a port until it is released, so that two starts at once never choose the same', async () => {
  const first = await holdPort(await pickPort())
  const second = await holdPort(first.port)
  expect(second.port).toBeGreaterThan(first.port)
  await Promise.all([first.release(), second.release()])
})

test('an address that is not of this machine is an error, not a taken port', async () => {
  await expect(pickPort(3000, '192.0.2.1')).rejects.toThrow('EADDRNOTAVAIL')
})
