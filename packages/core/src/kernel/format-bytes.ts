const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB']

/** 85899345920 -> `80 GiB`. */
export function formatBytes(bytes: number): string {
  const power = bytes > 0 ? Math.min(UNITS.length - 1, Math.floor(Math.log2(bytes) / 10)) : 0
  const scaled = bytes / 1024 ** power
  return `${scaled >= 100 || Number.isInteger(scaled) ? Math.round(scaled) : scaled.toFixed(1)} ${UNITS[power]}`
}
