import { max, names, number, sum, text } from '../files.ts'

const CPU_SENSORS = /^(coretemp|k10temp|zenpower|cpu_thermal|x86_pkg_temp|scpi_sensors)$/

/** The hottest of the CPU's own sensors in °C. */
export function cpuTemperature(root: string): number | null {
  const chips = names(root, '/sys/class/hwmon').map((name) => `/sys/class/hwmon/${name}`)
  const inputs = chips
    .filter((chip) => CPU_SENSORS.test(text(root, `${chip}/name`) ?? ''))
    .flatMap((chip) =>
      names(root, chip)
        .filter((name) => /^temp\d+_input$/.test(name))
        .map((name) => `${chip}/${name}`),
    )
  const zones = names(root, '/sys/class/thermal')
    .map((name) => `/sys/class/thermal/${name}`)
    .filter((zone) => CPU_SENSORS.test(text(root, `${zone}/type`) ?? ''))
  const found = max([...inputs, ...zones.map((zone) => `${zone}/temp`)].map((file) => number(root, file)))
  return found === null ? null : Math.round(found / 100) / 10
}

/** Errors of the host's memory since the driver was loaded; null where no memory controller counts them. */
export function memoryErrors(root: string) {
  const folder = '/sys/devices/system/edac/mc'
  const controllers = names(root, folder).filter((name) => /^mc\d+$/.test(name))
  const total = (counter: string) => sum(controllers.map((name) => number(root, `${folder}/${name}/${counter}`)))
  return { memory_ecc_corrected: total('ce_count'), memory_ecc_uncorrected: total('ue_count') }
}
