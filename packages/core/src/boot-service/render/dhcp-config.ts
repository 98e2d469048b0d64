import { bootScriptQuery } from './boot-script.ts'

export const DHCP_SERVERS = ['dnsmasq', 'kea', 'coredhcp'] as const
export type DhcpServer = (typeof DHCP_SERVERS)[number]

/** A boot network. Addresses are IPv4. */
export type DhcpNetwork = {
  /** CIDR, such as `10.0.0.0/24`. */
  subnet: string
  /** First and last address of the pool. */
  pool: { first: string; last: string }
  router: string | null
  nameservers: string[]
  /** HTTP folder with the iPXE programs `ipxe-x86_64.efi` and `ipxe-arm64.efi`, for UEFI HTTP boot. */
  ipxeUrl: string
}
/** A node with a fixed address. */
export type DhcpHost = { name: string; mac: string; address: string }

const LEASE_SECONDS = 43_200
/** Names of iPXE below the TFTP root, and in the folder for HTTP. */
const FILES = { bios: 'undionly.kpxe', efi: 'ipxe-x86_64.efi', arm: 'ipxe-arm64.efi' }

/**
 * Configuration of a DHCP server for network boot: firmware gets iPXE over TFTP or HTTP, and iPXE asks the boot service with its MAC.
 * @param scripts address of the boot service, such as `http://10.0.0.1:8080/boot/v1`
 */
export function renderDhcpConfig(server: DhcpServer, scripts: string, network: DhcpNetwork, hosts: readonly DhcpHost[]): string {
  const scriptUrl = `${scripts}/bootscript?${bootScriptQuery}`
  return { dnsmasq, kea, coredhcp }[server](scriptUrl, network, hosts)
}

const netmaskOf = (subnet: string): string => {
  const bits = Number(subnet.split('/')[1])
  const mask = bits === 0 ? 0 : (0xffffffff << (32 - bits)) >>> 0
  return [24, 16, 8, 0].map((shift) => (mask >>> shift) & 255).join('.')
}

function dnsmasq(
  scriptUrl: string,
  { subnet, pool, router, nameservers, ipxeUrl }: DhcpNetwork,
  hosts: readonly DhcpHost[],
): string {
  return lines(
    '# DHCP and TFTP for network boot. Set tftp-root to the folder with iPXE.',
    'port=0',
    'enable-tftp',
    'tftp-root=/srv/tftp',
    `dhcp-range=${pool.first},${pool.last},${netmaskOf(subnet)},${LEASE_SECONDS}`,
    ...(router ? [`dhcp-option=option:router,${router}`] : []),
    ...(nameservers.length > 0 ? [`dhcp-option=option:dns-server,${nameservers.join(',')}`] : []),
    '# iPXE sends option 175. Firmware names its architecture in option 93 (RFC 4578): 16 and 19 boot over HTTP.',
    'dhcp-match=set:ipxe,175',
    'dhcp-match=set:bios,option:client-arch,0',
    'dhcp-match=set:efi,option:client-arch,7',
    'dhcp-match=set:efi,option:client-arch,9',
    'dhcp-match=set:arm,option:client-arch,11',
    'dhcp-match=set:efi-http,option:client-arch,16',
    'dhcp-match=set:arm-http,option:client-arch,19',
    `dhcp-boot=tag:ipxe,${scriptUrl}`,
    `dhcp-boot=tag:!ipxe,tag:bios,${FILES.bios}`,
    `dhcp-boot=tag:!ipxe,tag:efi,${FILES.efi}`,
    `dhcp-boot=tag:!ipxe,tag:arm,${FILES.arm}`,
    'dhcp-option-force=tag:efi-http,60,HTTPClient',
    'dhcp-option-force=tag:arm-http,60,HTTPClient',
    `dhcp-boot=tag:!ipxe,tag:efi-http,${ipxeUrl}/${FILES.efi}`,
    `dhcp-boot=tag:!ipxe,tag:arm-http,${ipxeUrl}/${FILES.arm}`,
    ...hosts.map(({ mac, address, name }) => `dhcp-host=${mac},${address},${name}`),
  )
}

function kea(scriptUrl: string, { subnet, pool, router, nameservers, ipxeUrl }: DhcpNetwork, hosts: readonly DhcpHost[]): string {
  const firmware = (name: string, arches: number[], file: string) => ({
    name,
    test: `not member('ipxe') and (${arches.map((arch) => `option[93].hex == 0x${arch.toString(16).padStart(4, '0')}`).join(' or ')})`,
    'boot-file-name': file,
  })
  const http = { name: 'vendor-class-identifier', data: 'HTTPClient', 'always-send': true }
  const config = {
    Dhcp4: {
      'interfaces-config': { interfaces: ['*'] },
      'lease-database': { type: 'memfile', persist: true },
      'valid-lifetime': LEASE_SECONDS,
      'client-classes': [
        { name: 'ipxe', test: 'option[175].exists', 'boot-file-name': scriptUrl },
        firmware('bios', [0], FILES.bios),
        firmware('efi', [7, 9], FILES.efi),
        firmware('arm', [11], FILES.arm),
        { ...firmware('efi-http', [16], `${ipxeUrl}/${FILES.efi}`), 'option-data': [http] },
        { ...firmware('arm-http', [19], `${ipxeUrl}/${FILES.arm}`), 'option-data': [http] },
      ],
      subnet4: [
        {
          id: 1,
          subnet,
          pools: [{ pool: `${pool.first} - ${pool.last}` }],
          'option-data': [
            ...(router ? [{ name: 'routers', data: router }] : []),
            ...(nameservers.length > 0 ? [{ name: 'domain-name-servers', data: nameservers.join(', ') }] : []),
          ],
          reservations: hosts.map(({ mac, address, name }) => ({ 'hw-address': mac, 'ip-address': address, hostname: name })),
        },
      ],
    },
  }
  return `${JSON.stringify(config, null, 2)}\n`
}

/** CoreDHCP sends the same boot file to all clients, so iPXE must have the address of the boot service built in. */
function coredhcp(scriptUrl: string, { subnet, pool, router, nameservers, ipxeUrl }: DhcpNetwork): string {
  return lines(
    '# CoreDHCP cannot distinguish iPXE from firmware: build iPXE with a script that contains',
    `#   chain ${scriptUrl}`,
    'server4:',
    '  plugins:',
    '    - lease_time: 12h',
    `    - server_id: ${router ?? pool.first}`,
    ...(nameservers.length > 0 ? [`    - dns: ${nameservers.join(' ')}`] : []),
    ...(router ? [`    - router: ${router}`] : []),
    `    - netmask: ${netmaskOf(subnet)}`,
    `    - nbp: ${ipxeUrl}/${FILES.efi}`,
    `    - range: leases.sqlite3 ${pool.first} ${pool.last} 12h`,
  )
}

const lines = (...all: string[]) => `${all.join('\n')}\n`
