import { names, number, sum, text } from '../files.ts'
import { physicalNics } from './host.ts'

/** State of network interfaces and InfiniBand ports. Errors are counted since the driver was loaded. */
export function links(root: string) {
  return [
    ...physicalNics(root).map((name) => nic(root, name)),
    ...names(root, '/sys/class/infiniband').flatMap((device) => ports(root, device)),
  ]
}

function nic(root: string, name: string) {
  const at = `/sys/class/net/${name}`
  return {
    name,
    // ARPHRD_INFINIBAND
    kind: number(root, `${at}/type`) === 32 ? ('infiniband' as const) : ('ethernet' as const),
    state: text(root, `${at}/operstate`),
    speed_mbps: number(root, `${at}/speed`),
    errors: sum(['rx_errors', 'tx_errors'].map((counter) => number(root, `${at}/statistics/${counter}`))),
  }
}

function ports(root: string, device: string) {
  const folder = `/sys/class/infiniband/${device}/ports`
  return names(root, folder).map((port) => {
    const at = `${folder}/${port}`
    const rate = /^([\d.]+) Gb\/sec/.exec(text(root, `${at}/rate`) ?? '')?.[1]
    return {
      name: `${device}/${port}`,
      kind: 'infiniband' as const,
      // `4: ACTIVE`
      state:
        text(root, `${at}/state`)
          ?.replace(/^\d+: /, '')
          .toLowerCase() ?? null,
      speed_mbps: rate === undefined ? null : Math.round(Number(rate) * 1000),
      errors: sum(['symbol_error', 'link_downed', 'port_rcv_errors'].map((counter) => number(root, `${at}/counters/${counter}`))),
    }
  })
}
