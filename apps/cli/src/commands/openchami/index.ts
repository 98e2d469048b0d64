import { Command, type Output } from '../../command.ts'
import { EXIT } from '../../errors.ts'
import { addresses, differences, printDifferences, type Services } from './differences.ts'
import { openchamiPush } from './push.ts'

const openchamiDiff = () =>
  addresses(new Command('diff'))
    .description(
      "compare nodes, interfaces, groups and boot parameters with OpenCHAMI's SMD and BSS; the exit code is 1 when they differ",
    )
    .withOutput()
    .action(async (options: Output & Services) => {
      const { all } = await differences(options)
      printDifferences(all, options)
      if (all.length > 0) process.exitCode = EXIT.failed
    })

export const openchami = () =>
  new Command('openchami')
    .description("compare with OpenCHAMI's SMD and BSS, and write to them")
    .addCommand(openchamiDiff())
    .addCommand(openchamiPush())
