import { Command } from '../../command.ts'
import { integer, oneOf, wholeNumber } from '../../options.ts'
import { SELECTOR_HELP } from '../../selector.ts'
import { type PowerOptions, type PowerRequest, runPowerAction, withPowerOptions } from './run-power-action.ts'

export const powerAction = (name: string, action: PowerRequest['action'], what: string, description: string) => {
  const command = new Command(name).description(description).argument('<selector>', SELECTOR_HELP)
  if (action !== 'ON')
    command.option('--force', 'also stop nodes with running SlurmJobs or locks; needs the permission power:override')
  return withPowerOptions(command)
    .option('--parallel <n>', 'nodes in progress at the same time (default: 10)', integer)
    .option(
      '--delay <seconds>',
      'time between the commands of two nodes (default: 1 for on, restart and cycle, otherwise 0)',
      wholeNumber,
    )
    .action((selector: string, options: PowerOptions) => runPowerAction(what, { action }, selector, options))
}

const BOOT_DEVICES = ['PXE', 'HTTP', 'DISK', 'BIOS_SETUP', 'NONE'] as const

export const powerBootOnce = () =>
  withPowerOptions(
    new Command('boot-once')
      .description('choose the device of the next boot; does not restart the nodes')
      .argument('<selector>', SELECTOR_HELP)
      .argument('<device>', `${BOOT_DEVICES.join(', ')}; NONE removes a choice that was not used`, oneOf(...BOOT_DEVICES)),
  ).action((selector: string, bootDevice: (typeof BOOT_DEVICES)[number], options: PowerOptions) =>
    runPowerAction(`Boot once from ${bootDevice}`, { action: 'BOOT_ONCE', bootDevice }, selector, options),
  )
