import { execFileSync } from 'node:child_process'
import { existsSync, globSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const HOUR_S = 3_600
const INSTALL =
  'moving the clock of one process needs libfaketime (Debian: apt-get install -y faketime) or a C compiler (apt-get install -y gcc libc6-dev)'

/** Where Debian, Red Hat and others install the library. */
const LIBRARIES = ['/usr/lib/*/faketime/libfaketime.so.1', '/usr/lib*/faketime/libfaketime.so.1']

/** A replacement if there is only a compiler: it shifts the wall clock, not the monotonic one. */
const SHIM = `#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>
static long shift(void) { const char *text = getenv("CHAOS_CLOCK_SHIFT_S"); return text ? atol(text) : 0; }
int clock_gettime(clockid_t clock, struct timespec *now) {
  static int (*real)(clockid_t, struct timespec *);
  if (!real) real = dlsym(RTLD_NEXT, "clock_gettime");
  int failed = real(clock, now);
  if (!failed && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) now->tv_sec += shift();
  return failed;
}
int gettimeofday(struct timeval *now, void *zone) {
  static int (*real)(struct timeval *, void *);
  if (!real) real = dlsym(RTLD_NEXT, "gettimeofday");
  int failed = real(now, zone);
  if (!failed && now) now->tv_sec += shift();
  return failed;
}
time_t time(time_t *at) { struct timespec now; clock_gettime(CLOCK_REALTIME, &now); if (at) *at = now.tv_sec; return now.tv_sec; }
`

/** A way to run a process whose wall clock is wrong by an hour. */
export interface ClockShift {
  /** The environment of a process whose wall clock is an hour ahead or behind. */
  env(direction: 1 | -1): Record<string, string>
  close(): void
}

/** Finds such a way and checks that it works. Throws with what to install if there is none. */
export function clockShift(): ClockShift {
  const shift = shiftBy(LIBRARIES.flatMap((pattern) => globSync(pattern)).find((path) => existsSync(path)))
  for (const direction of [1, -1] as const) {
    const script = 'console.log(Date.now())'
    const env = { ...process.env, ...shift.env(direction) }
    const there = Number(execFileSync(process.execPath, ['-e', script], { env, encoding: 'utf8' }))
    if (Math.abs(there - Date.now() - direction * HOUR_S * 1_000) < 60_000) continue
    shift.close()
    throw new Error(`the wall clock of a process could not be moved: ${INSTALL}`)
  }
  return shift
}

function shiftBy(library: string | undefined): ClockShift {
  if (library !== undefined) {
    const env = (direction: 1 | -1) => ({
      LD_PRELOAD: library,
      FAKETIME: `${direction > 0 ? '+' : '-'}${HOUR_S}`,
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
      DONT_FAKE_MONOTONIC: '1',
    })
    return { env, close: () => {} }
  }
  const folder = mkdtempSync(join(tmpdir(), 'wakeful-clock-'))
  const [source, built] = [join(folder, 'shift.c'), join(folder, 'shift.so')]
  writeFileSync(source, SHIM)
  try {
    execFileSync('cc', ['-shared', '-fPIC', '-O1', '-o', built, source, '-ldl'], { stdio: 'pipe' })
  } catch (cause) {
    rmSync(folder, { recursive: true, force: true })
    throw new Error(INSTALL, { cause })
  }
  return {
    env: (direction) => ({ LD_PRELOAD: built, CHAOS_CLOCK_SHIFT_S: String(direction * HOUR_S) }),
    close: () => rmSync(folder, { recursive: true, force: true }),
  }
}
