import { Command } from 'commander'
import { allBundles } from '../../ids.ts'
import { ago, bytes, type Format, outputOption, printRows } from '../../output.ts'

export const bundleList = () =>
  new Command('list')
    .description('uploaded playbooks, and what needs them')
    .addOption(outputOption())
    .action(async ({ output }: { output: Format }) => {
      printRows(
        await allBundles(),
        [
          { title: 'SHA256', value: (b) => b.sha256.slice(0, 12) },
          { title: 'NAME', value: (b) => b.name },
          { title: 'SIZE', value: (b) => bytes(b.size) },
          { title: 'UPLOADED', value: (b) => `${ago(b.createdAt)} by ${b.createdByName}` },
          { title: 'NEEDED', value: (b) => b.deleteBlockedReason ?? 'no' },
        ],
        output,
        'No bundles.',
      )
    })
