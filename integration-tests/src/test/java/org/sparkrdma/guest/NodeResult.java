// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.guest;

import java.util.List;

/** What a command left on one node. */
record NodeResult(int exitCode, String out, String err) {
  List<String> lines() {
    return out.lines().toList();
  }
}
