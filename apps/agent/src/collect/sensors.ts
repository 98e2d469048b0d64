import { listFolder, max, readNumber, readText, sum } from '../files.ts'

const CPU_SENSORS = /^(coretemp|k10temp|zenpower|cpu_thermal|x86_pkg_temp|scpi_sensors)$/

/** Highest CPU temperature in °C. */
export function cpuTemperature(root: string): number | null {
  const chips = listFolder(root, '/sys/class/hwmon').map((name) => `/sys/class/hwmon/${name}`)
  const inputs = chips
    .filter((chip) => CPU_SENSORS.test(readText(root, `${chip}/name`) ?? ''))
    .flatMap((chip) =>
      listFolder(root, chip)
        .filter((name) => /^temp\d+_input$/.test(name))
        .map((name) => `${chip}/${name}`),
    )
  const zones = listFolder(root, '/sys/class/thermal')
    .map((name) => `/sys/class/thermal/${name}`)
    .filter((zone) => CPU_SENSORS.test(readText(root, `${zone}/type`) ?? ''))
  const highest = max([...inputs, ...zones.map((zone) => `${zone}/temp`)].map((file) => readNumber(root, file)))
  return highest === null ? null : Math.round(highest / 100) / 10
}

/** Host memory errors since the EDAC driver was loaded; null without a memory controller that counts them. */
export function memoryErrors(root: string) {
  const folder = '/sys/devices/system/edac/mc'
  const controllers = listFolder(root, folder).filter((name) => /^mc\d+$/.test(name))
  const total = (counter: string) => sum(controllers.map((name) => readNumber(root, `${folder}/${name}/${counter}`)))
  return { memory_ecc_corrected: total('ce_count'), memory_ecc_uncorrected: total('ue_count') }
}
