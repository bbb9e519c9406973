// SPDX-License-Identifier: Apache-2.0
/**
 * The git repository of this project, as far as commands name commits in their reports or check
 * them out.
 *
 * <p>Entry: {@link org.sparkrdma.launch.git.GitRepository}. All work is done by the calling thread.
 */
package org.sparkrdma.launch.git;
