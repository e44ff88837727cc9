# Bundles the decoder's test and runs it.
execute_process(COMMAND "${MODULES}/.bin/esbuild" "${SOURCE}/codec.ts" --bundle --platform=node --format=esm
  "--outfile=${WORK}/codec.mjs" --log-level=warning COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND "${NODE}" "${WORK}/codec.mjs" "${EFFORT}" "${GOLDEN}" "${WORK}" COMMAND_ERROR_IS_FATAL ANY)
