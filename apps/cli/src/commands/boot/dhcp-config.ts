import { Argument } from 'commander'
import { request } from '../../client.ts'
import { Command } from '../../command.ts'
import { graphql } from '../../graphql.ts'
import { write } from '../../output.ts'

const SERVERS = { dnsmasq: 'DNSMASQ', kea: 'KEA', coredhcp: 'COREDHCP' } as const
type Options = { subnet: string; pool: string; router?: string; nameserver?: string[]; ipxeUrl?: string }

export const bootDhcpConfig = () =>
  new Command('dhcp-config')
    .description('print the configuration of a DHCP server for network boot, with the fixed addresses of nodes')
    .addArgument(new Argument('<server>', 'DHCP server').choices(Object.keys(SERVERS)))
    .requiredOption('--subnet <cidr>', 'IPv4 network, such as 10.0.0.0/24')
    .requiredOption('--pool <first-last>', 'addresses for machines without a fixed one, such as 10.0.0.100-10.0.0.200')
    .option('--router <address>', 'address of the router')
    .option('--nameserver <address...>', 'addresses of name servers')
    .option('--ipxe-url <url>', 'HTTP folder with iPXE (default: the host of the boot service)')
    .action(async (server: keyof typeof SERVERS, { subnet, pool, router, nameserver, ipxeUrl }: Options) => {
      const [first = '', last = ''] = pool.split('-')
      const { bootDhcpConfig } = await request(
        graphql(`query BootDhcpConfig($input: DhcpConfigInput!) { bootDhcpConfig(input: $input) }`),
        {
          input: {
            ...{ server: SERVERS[server], subnet, first, last, router: router ?? null },
            ...{ nameservers: nameserver ?? null, ipxeUrl: ipxeUrl ?? null },
          },
        },
      )
      await write(bootDhcpConfig ?? '')
    })
