# shellcheck shell=bash
# Sourced. A program built with the feature `cuda` is linked to the driver and to cuBLAS, cuRAND, NVRTC and the CUDA
# runtime, and the system refuses to start it where one of them is not found: not even `--help` would work.

# Libraries that a program needs and the system does not find, one a line.
missing_libraries() {
    { ldd "$1" 2>/dev/null || true; } | awk '/=> not found/ { print $1 }'
}

# Folders where CUDA's libraries are found on many machines, but not by the system.
cuda_library_folders() {
    local packages
    if packages=$(python3 -c 'import sysconfig; print(sysconfig.get_paths()["purelib"])' 2>/dev/null); then
        echo "$packages/nvidia/cu13/lib" # what PyTorch's packages bring
    fi
    [[ -z ${CUDA_HOME:-} ]] || echo "$CUDA_HOME/lib64"
    printf '%s\n' /usr/local/cuda/lib64 /usr/local/cuda-13*/lib64 /usr/local/nvidia/lib64 /usr/local/nvidia/lib /usr/lib/wsl/lib
}

# NCCL, which is opened by its name where several GPUs hold one model: what PyTorch's packages bring, if that is all there is.
find_nccl() {
    local packages
    packages=$(python3 -c 'import sysconfig; print(sysconfig.get_paths()["purelib"])' 2>/dev/null) || return 0
    [[ ! -e $packages/nvidia/nccl/lib/libnccl.so.2 ]] || export LD_LIBRARY_PATH="${LD_LIBRARY_PATH:+$LD_LIBRARY_PATH:}$packages/nvidia/nccl/lib"
}

# find_cuda_libraries PROGRAM [FOLDER]: extends LD_LIBRARY_PATH until PROGRAM can start. What is nowhere on the machine is
# taken from FOLDER (lib/ with the CUDA runtime, stubs/NAME/ with a stand-in for each other library), with a word about
# what will not work then. The system's own libraries keep their precedence.
find_cuda_libraries() {
    local program=$1 own=${2:-} folder name missing useful stand_ins=()
    missing=$(missing_libraries "$program")
    while read -r folder; do
        [[ -n $missing ]] || return 0
        useful=''
        for name in $missing; do
            [[ ! -e $folder/$name ]] || useful=yes
        done
        if [[ -n $useful ]]; then
            export LD_LIBRARY_PATH="${LD_LIBRARY_PATH:+$LD_LIBRARY_PATH:}$folder"
            missing=$(missing_libraries "$program")
        fi
    done < <(cuda_library_folders; [[ -z $own ]] || echo "$own/lib")
    for name in $missing; do
        if [[ -n $own && -e $own/stubs/$name/$name ]]; then
            export LD_LIBRARY_PATH="${LD_LIBRARY_PATH:+$LD_LIBRARY_PATH:}$own/stubs/$name"
            stand_ins+=("$name")
        fi
    done
    missing=$(missing_libraries "$program")
    if [[ -n $missing ]]; then
        echo "not found on this machine: ${missing//$'\n'/ }; add their folder to LD_LIBRARY_PATH" >&2
        return 1
    fi
    case " ${stand_ins[*]:-} " in
    '  ') ;;
    *' libcuda.so.1 '*)
        echo "no NVIDIA driver on this machine (libcuda.so.1): only \`--device cpu\` works here" >&2
        ;;
    *)
        echo "not found: ${stand_ins[*]}; \`--device cuda\` needs them. They come with CUDA 13's runtime libraries or with PyTorch for CUDA 13: add their folder to LD_LIBRARY_PATH" >&2
        ;;
    esac
}
