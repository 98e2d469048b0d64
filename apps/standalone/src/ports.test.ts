import { once } from 'node:events'
import net from 'node:net'
import { expect, test } from 'vitest'
import { pickPort } from './ports.ts'

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

test('an address that is not of this machine is an error, not a taken port', async () => {
  await expect(pickPort(3000, '192.0.2.1')).rejects.toThrow('EADDRNOTAVAIL')
})
