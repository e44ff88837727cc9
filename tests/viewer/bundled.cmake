# Bundles a test that uses the page's sources, and runs it: TEST, ARGUMENTS.
execute_process(COMMAND "${MODULES}/.bin/esbuild" "${SOURCE}/${TEST}.ts" --bundle --platform=node --format=esm
  "--outfile=${WORK}/${TEST}.mjs" --log-level=warning COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND "${NODE}" "${WORK}/${TEST}.mjs" ${ARGUMENTS} COMMAND_ERROR_IS_FATAL ANY)
