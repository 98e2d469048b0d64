import { Command } from 'commander'
import { INVALID_TOKEN, request } from '../client.ts'
import { NotSignedIn } from '../errors.ts'
import { graphql } from '../graphql.ts'
import { type Format, outputOption, printObject } from '../output.ts'

export const whoami = () =>
  new Command('whoami')
    .description('who the saved token belongs to')
    .addOption(outputOption())
    .action(async ({ output }: { output: Format }) => {
      const { viewer } = await request(graphql(`query Whoami { viewer { kind name email role tenantName } }`), {})
      if (!viewer) throw new NotSignedIn(INVALID_TOKEN)
      printObject(viewer, output)
    })
