#!/bin/sh
# properties = {properties}
# On SIGTERM the engine and the training stage save and leave; without the trap this shell would leave before them.
trap : TERM
{exec_job}
