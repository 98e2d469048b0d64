import { listFolder, readNumber, readText, sum } from '../files.ts'
import { physicalNics } from './host.ts'

/** Reads network interfaces and InfiniBand ports. Error counters start when the driver is loaded. */
export function readInterfaces(root: string) {
  return [
    ...physicalNics(root).map((name) => readNic(root, name)),
    ...listFolder(root, '/sys/class/infiniband').flatMap((device) => readPorts(root, device)),
  ]
}

function readNic(root: string, name: string) {
  const base = `/sys/class/net/${name}`
  return {
    name,
    // ARPHRD_INFINIBAND
    kind: readNumber(root, `${base}/type`) === 32 ? ('infiniband' as const) : ('ethernet' as const),
    state: readText(root, `${base}/operstate`),
    speed_mbps: readNumber(root, `${base}/speed`),
    errors: sum(['rx_errors', 'tx_errors'].map((counter) => readNumber(root, `${base}/statistics/${counter}`))),
  }
}

function readPorts(root: string, device: string) {
  const folder = `/sys/class/infiniband/${device}/ports`
  return listFolder(root, folder).map((port) => {
    const base = `${folder}/${port}`
    const rate = /^([\d.]+) Gb\/sec/.exec(readText(root, `${base}/rate`) ?? '')?.[1]
    return {
      name: `${device}/${port}`,
      kind: 'infiniband' as const,
      // `4: ACTIVE`
      state:
        readText(root, `${base}/state`)
          ?.replace(/^\d+: /, '')
          .toLowerCase() ?? null,
      speed_mbps: rate === undefined ? null : Math.round(Number(rate) * 1000),
      errors: sum(
        ['symbol_error', 'link_downed', 'port_rcv_errors'].map((counter) => readNumber(root, `${base}/counters/${counter}`)),
      ),
    }
  })
}
