// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.guest;

import java.util.List;

/** Exit code and output of a command on one node. */
record NodeResult(int exitCode, String out, String err) {
  List<String> lines() {
    return out.lines().toList();
  }
}
