# kernel.sh - from a kernel's name to files that qemu can boot (sourced by vmrun)
#
#   kernel_find NAME -> kernel_tree, kernel_release, kernel_image
#
# A stock Debian package is downloaded with an apt that has its own configuration and state, and
# unpacked into the cache; nothing is installed, and the machine's own apt is only asked which
# mirror it uses. Everything works for ordinary users.
# shellcheck shell=bash

kernel_cache=${XDG_CACHE_HOME:-$HOME/.cache}/coop-kernels

# NAME  SUITE…: where a kernel line is looked for, in this order
kernel_suites='
5.10  bullseye-security
6.1   bookworm
6.12  trixie bookworm-backports
'

# What the initramfs needs to reach the root file system.
kernel_modules=(virtio_pci 9p 9pnet_virtio overlay)

kernel_find()
{
    local name=$1

    if [[ $name == */* ]]; then
        kernel_tree=$(realpath -e -- "$name") || die "no kernel tree '$name'"
    else
        name=${name%+}
        mkdir -p -- "$kernel_cache"
        # One download at a time; whoever waited finds the tree ready.
        exec 9>"$kernel_cache/lock"
        flock 9
        if [[ -n $refresh || ! -e $kernel_cache/$name/current ]]; then
            kernel_download "$name"
        fi
        kernel_tree=$(realpath -e -- "$kernel_cache/$name/current") || die "no kernel '$name'"
    fi
    kernel_prepare
    exec 9>&-
}

# The trees are used as they are by any number of vmrun at once, so a new one is made complete
# beside the old before 'current' is turned to it.
kernel_download()
{
    local name=$1 suites suite package version dir

    suites=$(awk -v name="$name" '$1 == name { $1 = ""; print }' <<<"$kernel_suites")
    [[ -n $suites ]] || die "unknown kernel '$name' (known: $(kernel_names), or the path of an" \
        "unpacked linux-image package)"
    for suite in $suites; do
        say "looking for kernel $name in $suite"
        kernel_apt_setup "$suite"
        kernel_apt get -qq -o APT::Update::Error-Mode=any update >&2 || continue
        read -r package version < <(kernel_newest "$name") || continue
        dir=$kernel_cache/$name/${package#linux-image-}_$version
        if [[ ! -d $dir ]]; then
            say "downloading $package $version"
            kernel_unpack "$package=$version" "$dir"
        fi
        ln -sfn -- "${dir##*/}" "$kernel_cache/$name/current.new"
        mv -T -- "$kernel_cache/$name/current.new" "$kernel_cache/$name/current"
        rm -rf -- "$kernel_cache/apt"
        return
    done
    die "found no kernel $name in:$suites"
}

kernel_names()
{
    awk 'NF { printf "%s%s", sep, $1; sep = ", " }' <<<"$kernel_suites"
}

# Prints package and version. Flavours other than plain amd64 (cloud, rt, unsigned, debug symbols)
# are kept out by the pattern.
kernel_newest()
{
    local pattern="^linux-image-${1//./\\.}\\.[0-9][0-9.+debpo-]*-amd64\$"
    local packages package version best_package='' best_version=''

    mapfile -t packages < <(kernel_apt cache pkgnames linux-image- | grep -E "$pattern")
    [[ ${#packages[@]} -gt 0 ]] || return 1
    while read -r package _ version _; do
        if [[ -z $best_version ]] || dpkg --compare-versions "$version" gt "$best_version"; then
            best_package=$package
            best_version=$version
        fi
    done < <(kernel_apt cache madison "${packages[@]}")
    [[ -n $best_version ]] && echo "$best_package $best_version"
}

kernel_unpack()
{
    local package=$1 dir=$2

    rm -rf -- "$dir.part"
    mkdir -p -- "$dir.part/deb" "$dir.part/tree"
    (cd -- "$dir.part/deb" && kernel_apt get -qq download "$package" >&2) ||
        die "cannot download $package"
    dpkg-deb -x "$dir.part"/deb/*.deb "$dir.part/tree" || die "cannot unpack $package"
    mv -T -- "$dir.part/tree" "$dir"
    rm -rf -- "$dir.part"
}

kernel_apt()
{
    local tool=$1

    shift
    APT_CONFIG=$kernel_apt_dir/apt.conf "apt-$tool" "$@"
}

# An apt of our own. From the machine's configuration come the mirror and how to reach it
# (Acquire::: proxies and the like), but not its hooks, pins and sources.
kernel_apt_setup()
{
    local suite=$1 uri

    kernel_apt_dir=$kernel_cache/apt/$suite
    mkdir -p -- "$kernel_apt_dir"/{none,lists/partial,cache/archives/partial}
    : >"$kernel_apt_dir/status"
    uri=$(kernel_mirror "$suite")
    [[ -n $uri ]] || die "found no Debian mirror in apt's configuration; set VMRUN_MIRROR" \
        "(and VMRUN_SECURITY_MIRROR) to its URI"
    echo "deb [arch=amd64$(kernel_signed_by)] $uri $suite main" >"$kernel_apt_dir/sources.list"
    {
        apt-config dump | grep '^Acquire::'
        cat <<END
Acquire::Languages "none";
APT::Architecture "amd64";
APT::Architectures { "amd64"; };
APT::Sandbox::User "root";
Dir::State::lists "$kernel_apt_dir/lists";
Dir::State::status "$kernel_apt_dir/status";
Dir::Cache "$kernel_apt_dir/cache";
Dir::Etc::main "$kernel_apt_dir/none/apt.conf";
Dir::Etc::parts "$kernel_apt_dir/none";
Dir::Etc::sourcelist "$kernel_apt_dir/sources.list";
Dir::Etc::sourceparts "$kernel_apt_dir/none";
Dir::Etc::preferences "$kernel_apt_dir/none/preferences";
Dir::Etc::preferencesparts "$kernel_apt_dir/none";
END
    } >"$kernel_apt_dir/apt.conf"
}

# Which mirror does this machine use? apt reads its own configuration best, in all its formats; an
# empty list directory makes it name every index it would fetch.
kernel_mirror()
{
    local indexes main security

    indexes=$(apt-get -o Dir::State::lists="$kernel_apt_dir/none" --print-uris update 2>/dev/null |
        sed -n "s|^'\(.*\)/dists/\([^/]*\)/main/binary-[^/]*/Packages.*|\1 \2|p")
    main=${VMRUN_MIRROR:-$(awk '$1 ~ /\/debian$/ { print $1; exit }' <<<"$indexes")}
    security=${VMRUN_SECURITY_MIRROR:-$(awk '$2 ~ /-security$/ { print $1; exit }' <<<"$indexes")}
    case $1 in
    *-security) echo "${security:-${main:+$main-security}}" ;;
    *) echo "$main" ;;
    esac
}

kernel_signed_by()
{
    local keyring=/usr/share/keyrings/debian-archive-keyring.gpg

    if [[ -r $keyring ]]; then
        echo " signed-by=$keyring"
    fi
}

# What the package's installation would have done, and the kernel decompressed: the emulated
# processor would need seconds for that at every boot.
kernel_prepare()
{
    local image

    image=$(printf '%s\n' "$kernel_tree"/boot/vmlinuz-* | sort -V | tail -n 1)
    [[ -e $image ]] || die "no boot/vmlinuz-* in '$kernel_tree'"
    kernel_release=${image##*/vmlinuz-}
    kernel_image=$kernel_tree/boot/vmlinux-$kernel_release
    if [[ ! -e $kernel_tree/lib ]]; then
        ln -s usr/lib "$kernel_tree/lib" || die "cannot prepare '$kernel_tree'"
    fi
    if [[ ! -e $kernel_tree/lib/modules/$kernel_release/modules.dep.bin ]]; then
        depmod -b "$kernel_tree" "$kernel_release" ||
            die "cannot index the modules of '$kernel_tree'"
    fi
    if [[ ! -e $kernel_image ]]; then
        kernel_decompress "$image" "$kernel_image.part"
        mv -- "$kernel_image.part" "$kernel_image"
    fi
}

# The x86 boot protocol says where the compressed payload lies: the real-mode part is setup_sects
# (0x1f1; 0 means 4) sectors after the boot sector, payload_offset (0x248) counts from its end,
# and payload_length is at 0x24c.
kernel_decompress()
{
    local image=$1 out=$2 sectors offset length magic
    local -a unpack

    sectors=$(kernel_number "$image" $((0x1f1)) 1)
    offset=$((((sectors ? sectors : 4) + 1) * 512 + $(kernel_number "$image" $((0x248)) 4)))
    length=$(kernel_number "$image" $((0x24c)) 4)
    magic=$(od -An -tx1 -j "$offset" -N 4 "$image" | tr -d ' ')
    case $magic in
    fd377a58) unpack=(xz -dc) ;;
    28b52ffd) unpack=(zstd -dcq --long=31) ;;
    02214c18) unpack=(lz4 -dc) ;;
    1f8b*) unpack=(gzip -dc) ;;
    *) die "'$image' has an unknown compression (it begins $magic)" ;;
    esac
    # All but gzip, which has one of its own, are followed by four bytes of size.
    [[ $magic == 1f8b* ]] || length=$((length - 4))
    head -c $((offset + length)) "$image" | tail -c +$((offset + 1)) | "${unpack[@]}" >"$out" ||
        die "cannot decompress '$image'"
}

kernel_number()
{
    od -An --endian=little -tu"$3" -j "$2" -N "$3" "$1" | tr -d ' '
}

# Writes an initramfs: busybox, the modules in the order they are to be loaded, and our init.
kernel_initramfs()
{
    local out=$1 busybox=$2 init=$3 dir=$4 module word path

    mkdir -p -- "$dir"/{bin,modules,proc,sys,dev,lower,over,new,control,stash}
    cp -- "$busybox" "$dir/bin/busybox"
    cp -- "$init" "$dir/init"
    chmod 755 "$dir/bin/busybox" "$dir/init"
    for module in "${kernel_modules[@]}"; do
        modprobe -C /dev/null -d "$kernel_tree" -S "$kernel_release" --show-depends "$module" ||
            die "kernel $kernel_release has no module '$module'"
    done >"$dir/modules/all"
    while read -r word path; do
        [[ $word == insmod ]] || continue # the rest are built in
        module=${path##*/}
        module=${module%%.ko*}.ko
        [[ ! -e $dir/modules/$module ]] || continue
        case $path in
        *.ko) cat -- "$path" ;;
        *.xz) xz -dc -- "$path" ;;
        *.zst) zstd -dcq -- "$path" ;;
        *) die "module '$path' has an unknown compression" ;;
        esac >"$dir/modules/$module" || die "cannot read module '$path'"
        echo "$module"
    done <"$dir/modules/all" >"$dir/modules/order"
    rm -- "$dir/modules/all"
    (cd -- "$dir" && find . | "$busybox" cpio -o -H newc -R 0:0 2>/dev/null) >"$out" ||
        die "cannot write the initramfs"
}
