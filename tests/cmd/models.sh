#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# The models of the protocols of waiting: each holds, and each mistake in it is found.
exec tools/models
